// The program of a release: which targets can be built here, and its version and licences as Cargo knows them.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const { linked, notices } = require("./notices.js");

const root = path.dirname(__dirname);
// The target of Rust that the program of a platform of npm is built for.
const platforms = JSON.parse(fs.readFileSync(path.join(__dirname, "platforms.json"), "utf8"));
// The platform that this script runs on, in npm's words.
const host = `${process.platform}-${process.arch}`;

// The target to build for a platform: `{target, isStatic}`, or `{reason}` where Rust cannot build it here. On Linux a
// static program runs with every C library. Where Rust cannot make one, it is one for the C library of this machine.
function buildable(platform) {
  const target = platforms[platform];
  const reason = missing(target);
  if (!reason) {
    return { target, isStatic: target.endsWith("-musl") };
  }
  const other = target.replace("-musl", "-gnu");
  if (other !== target && platform === host && hasTarget(other)) {
    return { target: other, isStatic: false };
  }
  return { reason };
}

// What is not here to build for a target, and the command that brings it.
function missing(target) {
  if (!hasTarget(target)) {
    return `Rust has no standard library for ${target} here: rustup target add ${target}`;
  }
  const { program, packages } = compilerFor(target);
  const dirs = (process.env.PATH ?? "").split(path.delimiter);
  if (program && !dirs.some((dir) => fs.existsSync(path.join(dir, program)))) {
    return `there is no C compiler for ${target} here (${program}): apt install ${packages}`;
  }
  return null;
}

// The C compiler for a static program, which ring needs, by what Debian has. Where it is one for another processor,
// Rust's own linker links. A variable of the user's that names another compiler goes before this.
function compilerFor(target) {
  const name = target.replaceAll("-", "_");
  if (!target.endsWith("-musl") || process.env[`CC_${name}`]) {
    return { env: {} };
  }
  const processor = target.split("-")[0];
  if (processor === { x64: "x86_64", arm64: "aarch64" }[process.arch]) {
    return { program: "musl-gcc", packages: "musl-tools", env: { [`CC_${name}`]: "musl-gcc" } };
  }
  const program = `${processor}-linux-gnu-gcc`;
  const kind = { x86_64: "amd64", aarch64: "arm64" }[processor];
  const packages = `gcc-${processor.replace("_", "-")}-linux-gnu libc6-dev-${kind}-cross`;
  return { program, packages, env: { [`CC_${name}`]: program, [`CARGO_TARGET_${name.toUpperCase()}_LINKER`]: "rust-lld" } };
}

function hasTarget(target) {
  const dir = run("rustc", ["--print", "target-libdir", "--target", target]).trim();
  return fs.existsSync(dir) && fs.readdirSync(dir).some((name) => name.startsWith("libstd-"));
}

// Builds the program for a target and returns its path.
function build(target, buildDir, profile = "dist") {
  const [cargo, ...args] = buildCommand(target, profile);
  execFileSync(cargo, args, { cwd: root, stdio: ["ignore", 2, 2], env: { ...process.env, ...compilerFor(target).env } });
  return path.join(buildDir, target, profile === "dev" ? "debug" : profile, "terca");
}

function buildCommand(target, profile) {
  return ["cargo", "build", "--profile", profile, "--locked", "--package", "terca", "--target", target];
}

// Versions, licence and description are Cargo's: there is no second place to forget.
function askCargo() {
  // Of this machine, for every platform: those crates are here. The few that others take instead are as free.
  const triple = run("rustc", ["-vV"]).match(/^host: (.*)$/m)[1];
  const said = run("cargo", ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple]);
  const metadata = JSON.parse(said);
  const crate = metadata.packages.find((one) => one.name === "terca");
  const parts = linked(metadata, crate.id);
  return { crate, buildDir: metadata.target_directory, licences: notices(parts.linked), ...parts };
}

// A program that was built before the version was raised is not packed under the new one: returns what is wrong.
function versionProblem(program, platform, version) {
  if (platform !== host) {
    return null;
  }
  const said = run(program, ["-V"]).trim();
  const isRight = said === version || said === `terca ${version}`;
  return isRight ? null : `${program} is not of version ${version} but says \`${said}\``;
}

function run(program, args, options = {}) {
  const stdio = ["ignore", "pipe", "inherit"];
  return execFileSync(program, args, { cwd: root, encoding: "utf8", stdio, maxBuffer: 2 ** 28, ...options });
}

module.exports = { root, platforms, host, buildable, build, buildCommand, askCargo, versionProblem, run };
