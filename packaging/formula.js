// A formula for Homebrew, which downloads the tarball for its machine and checks it.
"use strict";

const PLATFORMS = [["macos", "arm", "darwin-arm64"], ["macos", "intel", "darwin-x64"], ["linux", "arm", "linux-arm64"], ["linux", "intel", "linux-x64"]];

// `tarballs` has the name and the checksum of each platform that there is: `{platform, name, sha256}`.
exports.formula = function formula(crate, baseUrl, tarballs) {
  const blocks = PLATFORMS.flatMap(([system, processor, platform]) => {
    const found = tarballs.find((one) => one.platform === platform);
    return found ? [`  on_${system} do
    on_${processor} do
      url ${quoted(`${baseUrl}/${found.name}`)}
      sha256 ${quoted(found.sha256)}
    end
  end
`] : [];
  });
  return `# Made by scripts/release. Put it into Formula/ of a tap of your own.
class Terca < Formula
  desc ${quoted(crate.description.replace(/^An? /, "").replace(/^./, (letter) => letter.toUpperCase()))}
  homepage ${quoted(baseUrl)}
  version ${quoted(crate.version)}
  license ${quoted(crate.license)}

${blocks.join("\n")}
  def install
    bin.install "terca"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/terca --version")
  end
end
`;
};

function quoted(text) {
  return `"${text.replace(/["\\#]/g, "\\$&")}"`;
}
