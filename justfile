# What developers of Terca do. Where `just` is missing, .cargo/config.toml has the same for cargo.

# lists what there is
default:
    @just --list --unsorted

# everything that CI runs
ci:
    .ci/run

# formats the code
fmt:
    cargo fmt --all

# formatting and lints, as CI has them
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# the tests that this machine can run, or some: just test --everything, just test -p terca-core
test *args:
    scripts/test {{ args }}

# makes the snapshots anew; read what has changed
snapshots *args:
    INSTA_UPDATE=always cargo test --workspace --no-fail-fast {{ args }}
    git status --short -- '*.snap'

# makes the JSON Schemas anew
schemas:
    UPDATE_SCHEMAS=1 cargo test --package terca-core --test schemas

# what Terca costs: just bench startup, just bench --quick
bench *args:
    cargo run --release --package terca-benches -- {{ args }}

# figures of the source, and circles among its modules: just house --check
house *args:
    scripts/house {{ args }}

# looks for input that a reader trips over
fuzz rounds="100000":
    TERCA_FUZZ_ROUNDS={{ rounds }} cargo test --release --package terca-fuzz

# licences, sources and known faults of dependencies
deny:
    cargo deny check

# npm packages for this platform, in target/npm
npm *args:
    scripts/npm-pack {{ args }}

# everything that a release publishes, in target/dist
release *args:
    scripts/release {{ args }}

# puts terca on the PATH
install:
    cargo install --locked --path crates/terca

# the documentation as a book, in target/book
book:
    mdbook build docs
