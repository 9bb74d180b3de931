import * as library from '@import@';

console.log(typeof library.@used@);
