// The licences of what is linked into the program, which ask to go with it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const NOTICE = /^(LICEN[CS]E|COPYING|NOTICE|UNLICENSE)/i;

// Every crate from elsewhere with its licence, then every text once, with those it is of.
exports.notices = function notices(linked) {
  const crates = linked.filter((crate) => crate.source !== null);
  const texts = new Map();
  for (const crate of crates) {
    for (const text of textsOf(crate)) {
      texts.set(text, [...(texts.get(text) ?? []), title(crate)]);
    }
  }
  const list = crates.map((crate) => `${title(crate)}: ${crate.license}\n`).join("");
  const parts = [...texts].map(([text, of]) => `${"=".repeat(80)}\n${of.join(", ")}\n\n${text}\n`);
  const also = "the standard library of Rust (MIT OR Apache-2.0) and, where it is static, musl (MIT)";
  return `Terca holds ${also}, and the following crates.\n\n${list}\n${parts.join("\n")}`;
};

// The crates that the program depends on, but for its tests and for building it, itself among them, from what
// `cargo metadata` says. `dependsOn` has the ids of those that one of them names.
exports.linked = function linked(metadata, root) {
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const dependsOn = ({ id }) => {
    const normal = nodes.get(id).deps.filter((dep) => dep.dep_kinds.some(({ kind }) => kind === null));
    return normal.map((dep) => dep.pkg);
  };
  const found = new Set([root]);
  // A set is walked to its end, with what is added meanwhile.
  for (const id of found) {
    dependsOn({ id }).forEach((other) => found.add(other));
  }
  const crates = metadata.packages.filter((crate) => found.has(crate.id));
  return { linked: crates.sort((one, other) => title(one).localeCompare(title(other))), dependsOn };
};

function textsOf(crate) {
  const dir = path.dirname(crate.manifest_path);
  const files = fs.readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isFile() && NOTICE.test(entry.name));
  return new Set(files.map(({ name }) => fs.readFileSync(path.join(dir, name), "utf8").replaceAll("\r", "").trim()));
}

function title(crate) {
  return `${crate.name} ${crate.version}`;
}
