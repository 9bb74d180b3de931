// What a release says about itself: what is in it (CycloneDX), and how it was made (SLSA, as a statement of in-toto).
"use strict";

const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const { buildCommand, root, run } = require("../npm/program.js");

// The crates that are linked into the program, from what `cargo metadata` and Cargo.lock say.
exports.sbom = function sbom({ crate, linked, dependsOn }, time) {
  const sums = checksums();
  const component = (one) => {
    const sum = sums.get(`${one.name} ${one.version}`);
    return {
      type: one === crate ? "application" : "library",
      "bom-ref": purl(one),
      name: one.name,
      version: one.version,
      ...(one.description ? { description: one.description.trim() } : {}),
      ...(sum ? { hashes: [{ alg: "SHA-256", content: sum }] } : {}),
      // Some crates still write `MIT/Apache-2.0`, which is not an expression of SPDX.
      licenses: [{ expression: one.license.replaceAll("/", " OR ") }],
      purl: purl(one),
    };
  };
  const all = [crate, ...linked.filter((one) => one !== crate)];
  const byId = new Map(all.map((one) => [one.id, one]));
  const dependencies = all.map((one) => ({ ref: purl(one), dependsOn: dependsOn(one).map((id) => purl(byId.get(id))).sort() }));
  return json({
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { timestamp: new Date(time * 1000).toISOString(), tools: { components: [{ type: "application", name: "scripts/release" }] }, component: component(crate) },
    components: all.slice(1).map(component),
    dependencies,
  });
};

function purl({ name, version }) {
  return `pkg:cargo/${name}@${version}`;
}

function checksums() {
  const lock = fs.readFileSync(path.join(root, "Cargo.lock"), "utf8");
  const found = lock.matchAll(/^name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"$/gm);
  return new Map([...found].map(([, name, version, sum]) => [`${name} ${version}`, sum]));
}

// Nobody signs this here: it says what the script knows. `programs` has `{target, given, sha256}`, where a program that
// was given was built elsewhere. `files` are the subjects: `{name, sha256}`.
exports.provenance = function provenance({ files, programs, profile, baseUrl }) {
  const { commit, uncommittedChanges } = askGit();
  const { GITHUB_ACTIONS, GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = process.env;
  const repository = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  const [id, metadata] = GITHUB_ACTIONS ? [`${repository}/actions`, { invocationId: `${repository}/actions/runs/${GITHUB_RUN_ID}` }] : ["urn:terca:builder:local", undefined];
  const lock = createHash("sha256").update(fs.readFileSync(path.join(root, "Cargo.lock"))).digest("hex");
  const told = programs.map(({ target, given, sha256 }) => ({
    target,
    sha256,
    ...(given ? { builtBy: "somebody else: --binary" } : { command: buildCommand(target, profile) }),
  }));
  return json({
    _type: "https://in-toto.io/Statement/v1",
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:terca:scripts-release:v1",
        externalParameters: { script: "scripts/release", profile, ...(baseUrl ? { baseUrl } : {}), programs: told },
        internalParameters: { rustc: run("rustc", ["--version"]).trim(), cargo: run("cargo", ["--version"]).trim(), node: process.version, uncommittedChanges },
        resolvedDependencies: [...(commit ? [{ name: "terca", digest: { gitCommit: commit } }] : []), { name: "Cargo.lock", digest: { sha256: lock } }],
      },
      runDetails: { builder: { id }, ...(metadata ? { metadata } : {}) },
    },
  });
};

// Nothing where the source is not a repository, or git does not trust it.
function askGit() {
  try {
    const commit = run("git", ["rev-parse", "HEAD"]).trim();
    return { commit, uncommittedChanges: run("git", ["status", "--porcelain", "--untracked-files=no"]).trim() !== "" };
  } catch {
    return {};
  }
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
