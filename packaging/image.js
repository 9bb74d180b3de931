// A container's image with the program and nothing else, made without an engine. The archive is in the layout of OCI, and
// has a `manifest.json` for older versions of `docker load`.
"use strict";

const { createHash } = require("node:crypto");
const { gzipSync } = require("node:zlib");

const { entry, licenceEntries, tar } = require("./archive.js");
const { architecture } = require("./deb.js");

// A name that no engine looks for at a registry of somebody else.
exports.imageName = (crate) => `localhost/terca:${crate.version}`;

exports.image = function image({ crate, platform, program, licences, time }) {
  const files = [entry("terca", program), ...licenceEntries("licences/", licences)];
  // A program of this kind expects to find a directory for temporary files, which everybody may write to.
  const layer = blob("application/vnd.oci.image.layer.v1.tar", tar([entry("licences/"), { ...entry("tmp/"), mode: 0o1777 }, ...files], time));
  const config = blob("application/vnd.oci.image.config.v1+json", JSON.stringify({
    architecture: architecture(platform),
    os: "linux",
    created: new Date(time * 1000).toISOString(),
    config: { Entrypoint: ["/terca"], Env: ["PATH=/usr/local/bin:/usr/bin:/bin:/"], WorkingDir: "/suite", Labels: labels(crate) },
    rootfs: { type: "layers", diff_ids: [layer.descriptor.digest] },
    history: [{ created: new Date(time * 1000).toISOString(), created_by: "scripts/release" }],
  }));
  const media = "application/vnd.oci.image.manifest.v1+json";
  const manifest = blob(media, JSON.stringify({ schemaVersion: 2, mediaType: media, config: config.descriptor, layers: [layer.descriptor] }));
  const named = { "org.opencontainers.image.ref.name": crate.version, "io.containerd.image.name": exports.imageName(crate) };
  const index = { schemaVersion: 2, manifests: [{ ...manifest.descriptor, annotations: named }] };
  const docker = [{ Config: config.path, RepoTags: [exports.imageName(crate)], Layers: [layer.path] }];
  const blobs = [config, layer, manifest].map(({ path, content }) => entry(path, content));
  const rest = [["index.json", index], ["manifest.json", docker], ["oci-layout", { imageLayoutVersion: "1.0.0" }]];
  const dirs = [entry("blobs/"), entry("blobs/sha256/")];
  return gzipSync(tar([...dirs, ...blobs, ...rest.map(([name, value]) => entry(name, JSON.stringify(value)))], time));
};

function blob(mediaType, text) {
  const content = Buffer.from(text);
  const hex = createHash("sha256").update(content).digest("hex");
  return { content, path: `blobs/sha256/${hex}`, descriptor: { mediaType, digest: `sha256:${hex}`, size: content.length } };
}

function labels({ version, description, license }) {
  const name = "org.opencontainers.image";
  return { [`${name}.title`]: "terca", [`${name}.version`]: version, [`${name}.description`]: description, [`${name}.licenses`]: license };
}
