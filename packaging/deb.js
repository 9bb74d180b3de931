// A package for Debian and its kin, made without their tools.
"use strict";

const { createHash } = require("node:crypto");

const { ar, entry, licenceEntries, tarGz } = require("./archive.js");

const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

// Debian's word for the processor of a platform of npm, which is that of images as well.
exports.architecture = (platform) => ARCHITECTURES[platform.split("-")[1]];

exports.deb = function deb({ crate, platform, target, program, licences, time }) {
  const doc = "./usr/share/doc/terca/";
  const files = [entry("./usr/bin/terca", program), ...licenceEntries(doc, licences), entry(`${doc}copyright`, copyright(crate))];
  const dirs = ["./", "./usr/", "./usr/bin/", "./usr/share/", "./usr/share/doc/", doc].map((name) => entry(name));
  const size = files.reduce((sum, { content }) => sum + Math.ceil(content.length / 1024), dirs.length);
  const sums = files.map(({ name, content }) => `${createHash("md5").update(content).digest("hex")}  ${name.slice(2)}\n`).join("");
  const control = [entry("./"), entry("./control", controlFile(crate, exports.architecture(platform), target, size)), entry("./md5sums", sums)];
  const parts = [["debian-binary", "2.0\n"], ["control.tar.gz", tarGz(control, time)], ["data.tar.gz", tarGz([...dirs, ...files], time)]];
  return ar(parts, time);
};

// A static program needs nothing. What trials are better with is recommended.
function controlFile(crate, architecture, target, size) {
  const lines = [
    "Package: terca",
    `Version: ${crate.version}`,
    `Architecture: ${architecture}`,
    "Maintainer: the developers of Terca <terca@example.invalid>",
    `Installed-Size: ${size}`,
    ...(target.endsWith("-musl") ? [] : ["Depends: libc6"]),
    "Recommends: bubblewrap, git",
    "Section: devel",
    "Priority: optional",
    `Description: ${crate.description}`,
  ];
  return `${lines.join("\n")}\n`;
}

function copyright(crate) {
  return `Terca is under the licence ${crate.license}, which is beside this file: LICENSE. The licences of the libraries in the\nprogram are in THIRD-PARTY-LICENSES.txt.\n`;
}
