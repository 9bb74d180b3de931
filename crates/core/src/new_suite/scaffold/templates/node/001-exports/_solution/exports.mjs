import * as library from '@import@';

const names = Object.keys(library).filter((name) => !['__esModule', 'module.exports'].includes(name));
for (const name of names.sort()) console.log(name);
