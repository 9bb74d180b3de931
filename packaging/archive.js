// Archives whose bytes depend on their content alone: everything is root's, and of one time.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { gzipSync } = require("node:zlib");

const root = path.dirname(__dirname);

// The time of everything in a release: that of the commit, unless the variable that is made for this says another.
function releaseTime() {
  const told = process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  return Number(told.trim());
}

// A file of an archive, from a file here or from a text. What may be run, says its name alone: it is the program.
function entry(name, content) {
  const isProgram = path.basename(name) === "terca" && !name.endsWith("/");
  return { name, mode: isProgram || name.endsWith("/") ? 0o755 : 0o644, content: Buffer.from(content ?? "") };
}

// The licences that go with the program, in a directory that ends with a slash or is nothing.
function licenceEntries(dir, licences) {
  return [entry(`${dir}LICENSE`, fs.readFileSync(path.join(root, "LICENSE"))), entry(`${dir}THIRD-PARTY-LICENSES.txt`, licences)];
}

// In the format ustar, which every tar reads. A name that ends with a slash is a directory.
function tar(entries, time) {
  const blocks = entries.flatMap(({ name, mode, content }) => {
    if (Buffer.byteLength(name) > 100) {
      throw new Error(`the name is too long for a tarball: ${name}`);
    }
    const header = Buffer.alloc(512);
    const put = (text, at) => header.write(text, at, "latin1");
    const octal = (number, digits) => number.toString(8).padStart(digits, "0");
    header.write(name, 0, "utf8");
    put(octal(mode, 7), 100);
    put(octal(0, 7), 108);
    put(octal(0, 7), 116);
    put(octal(content.length, 11), 124);
    put(octal(time, 11), 136);
    put("        ", 148);
    put(name.endsWith("/") ? "5" : "0", 156);
    put("ustar\x0000", 257);
    put("root", 265);
    put("root", 297);
    put(`${octal(header.reduce((sum, byte) => sum + byte, 0), 6)}\0 `, 148);
    return [header, content, Buffer.alloc(-content.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function tarGz(entries, time) {
  return gzipSync(tar(entries, time));
}

// In the format of ar, which a package for Debian is in.
function ar(files, time) {
  const parts = files.flatMap(([name, content]) => {
    const header = `${name.padEnd(16)}${String(time).padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(content.length).padEnd(10)}\`\n`;
    return [Buffer.from(header), Buffer.from(content), Buffer.from(content.length % 2 ? "\n" : "")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}

module.exports = { ar, entry, licenceEntries, releaseTime, tar, tarGz };
