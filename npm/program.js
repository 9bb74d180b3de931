// The program of a release: which targets can be built here, and its version and licences as Cargo knows them.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const { notices } = require("./notices.js");

const root = path.dirname(__dirname);
// The target of Rust that the program of a platform of npm is built for.
const platforms = JSON.parse(fs.readFileSync(path.join(__dirname, "platforms.json"), "utf8"));
// The platform that this script runs on, in npm's words.
const host = `${process.platform}-${process.arch}`;

// The target to build for a platform: `{target, isStatic}`, or `{reason}` where Rust cannot build it here. On Linux a
// static program runs with every C library. Where Rust has no such target, it is one for the C library of this machine.
function buildable(platform) {
  const target = platforms[platform];
  if (hasTarget(target)) {
    return { target, isStatic: target.endsWith("-musl") };
  }
  const other = target.replace("-musl", "-gnu");
  if (other !== target && hasTarget(other)) {
    return { target: other, isStatic: false };
  }
  return { reason: `Rust has no standard library for ${target} here: rustup target add ${target}` };
}

function hasTarget(target) {
  const dir = run("rustc", ["--print", "target-libdir", "--target", target]).trim();
  return fs.existsSync(dir) && fs.readdirSync(dir).some((name) => name.startsWith("libstd-"));
}

// Builds the program for a target and returns its path.
function build(target, buildDir, profile = "dist") {
  const args = ["build", "--profile", profile, "--locked", "--package", "terca", "--target", target];
  execFileSync("cargo", args, { cwd: root, stdio: ["ignore", 2, 2] });
  return path.join(buildDir, target, profile === "dev" ? "debug" : profile, "terca");
}

// Versions, licence and description are Cargo's: there is no second place to forget.
function askCargo() {
  // Of this machine, for every platform: those crates are here. The few that others take instead are as free.
  const triple = run("rustc", ["-vV"]).match(/^host: (.*)$/m)[1];
  const said = run("cargo", ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple]);
  const metadata = JSON.parse(said);
  const crate = metadata.packages.find((one) => one.name === "terca");
  return { crate, buildDir: metadata.target_directory, licences: notices(metadata, crate.id) };
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

module.exports = { root, platforms, host, buildable, build, askCargo, versionProblem, run };
