import * as library from '@import@';

const name = process.argv[2];
if (Object.hasOwn(library, name)) {
  console.log(typeof library[name]);
} else {
  console.log('missing');
  process.exitCode = 1;
}
