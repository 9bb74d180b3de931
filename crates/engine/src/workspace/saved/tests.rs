use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use camino::Utf8PathBuf;

use super::restore::{CheckedLayers, RestoreError, Saved, layers_of};
use super::save::Differences;
use super::{CHANGES, path_of, saved_tree, text_of};
use crate::tree::{Dir, Options, copy, list};
use crate::workspace::base_layers::{BaseLayer, BaseLayers};
use crate::workspace::merged_layers::MergedLayers;

/// A run with two layers, and a workspace that was made from them.
struct Run {
    _guard: tempfile::TempDir,
    dir: Utf8PathBuf,
    layers: Vec<BaseLayer>,
}

const LOWER: &str = "mkdir -p src/deep empty bin .git; echo one > src/a.rs; echo two > src/deep/b.rs; echo x > bin/tool
chmod 755 bin/tool; ln -s src/a.rs link; echo hidden > .git/config; echo low > both; mkdir swapped; echo in > swapped/file
echo file > other-way; head -c 300000 /dev/zero | tr '\\0' 'x' > large; echo % > 100%";
const UPPER: &str = "mkdir -p src more; echo high > both; echo new > src/c.rs; rm -rf swapped; echo now-a-file > swapped
mkdir other-way; echo below > other-way/file; chmod 700 src";

impl Run {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        for (name, script) in [("lower", LOWER), ("upper", UPPER), ("workspace", "")] {
            fs_err::create_dir(dir.join(name)).unwrap();
            shell(&dir.join(name), script);
        }
        fs_err::create_dir_all(dir.join(".terca/runs/1/trial")).unwrap();
        let kept = BaseLayers::of_suite(&dir);
        let layers: Vec<BaseLayer> = ["lower", "upper"]
            .iter()
            .map(|name| kept.get(&dir.join(name), &Options::default()).unwrap())
            .collect();
        let run = Run {
            _guard: guard,
            dir,
            layers,
        };
        let workspace = Dir::open(run.workspace()).unwrap();
        for layer in &run.layers {
            let layer = Dir::open(&layer.tree).unwrap();
            copy(&layer, &workspace, &Options::default(), &mut |_| Ok(true)).unwrap();
        }
        run
    }

    fn workspace(&self) -> Utf8PathBuf {
        self.dir.join("workspace")
    }

    fn run_dir(&self) -> Utf8PathBuf {
        self.dir.join(".terca/runs/1")
    }

    fn folder(&self) -> Utf8PathBuf {
        self.run_dir().join("trial")
    }

    fn save(&self) {
        let options = Options::default();
        let layers = MergedLayers::read(&self.layers, &options).unwrap();
        let workspace = Dir::open(self.workspace()).unwrap();
        let folder = Dir::open(self.folder()).unwrap();
        let found = Differences::find(&workspace, &layers, None, &options).unwrap();
        found.save(&workspace, &folder, &options).unwrap();
    }

    fn open(&self) -> Result<Saved, RestoreError> {
        let run = Dir::open(self.run_dir()).unwrap();
        let checked = CheckedLayers::default();
        Saved::open(&run, "trial".into(), &checked, &Options::default())
    }

    /// Lets an agent work, saves what it left, and compares that with what is made again.
    fn check(&self, agent: &str) {
        shell(&self.workspace(), agent);
        let left = facts(&self.workspace());
        self.save();
        let made = self.dir.join("made");
        fs_err::create_dir(&made).unwrap();
        let saved = self.open().unwrap();
        saved
            .restore(&Dir::open(&made).unwrap(), &Options::default())
            .unwrap();
        let made = facts(&made);
        let differs = |path: &&PathBuf| left.get(*path) != made.get(*path);
        let paths = left.keys().chain(made.keys()).filter(differs);
        let paths: Vec<_> = paths
            .map(|path| (path, left.get(path), made.get(path)))
            .collect();
        assert!(paths.is_empty(), "{agent}: {paths:#?}");
    }

    /// Returns the bytes of the files that were saved for the trial.
    fn saved_bytes(&self) -> u64 {
        let tree = Dir::open(saved_tree(&self.folder())).unwrap();
        list(&tree, &Options::default())
            .unwrap()
            .iter()
            .map(|(_, meta)| meta.size)
            .sum()
    }

    /// Changes the record of the saved workspace.
    fn edit_record(&self, from: &str, to: &str) {
        let path = self.folder().join(CHANGES).join("changes.json");
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs_err::write(&path, text.replace(from, to)).unwrap();
    }
}

fn shell(dir: &camino::Utf8Path, script: &str) {
    let done = Command::new("bash")
        .args(["-ec", script])
        .current_dir(dir)
        .status();
    assert!(done.unwrap().success(), "{script}");
}

/// Returns everything that is kept of a tree, by path: kind, permissions, time, and the content or the text of a link.
fn facts(root: &camino::Utf8Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(path) = open.pop() {
        let place = root.as_std_path().join(&path);
        let meta = std::fs::symlink_metadata(&place).unwrap();
        let content = if meta.is_dir() {
            let entries = std::fs::read_dir(&place).unwrap();
            open.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
            String::new()
        } else if meta.is_symlink() {
            format!("{:?}", std::fs::read_link(&place).unwrap())
        } else if meta.is_file() {
            let content = std::fs::read(&place).unwrap();
            let start = String::from_utf8_lossy(&content[..content.len().min(20)]).into_owned();
            let sum = content.iter().fold(0_u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
            });
            format!("{} {sum:x} {start:?}", content.len())
        } else {
            String::new()
        };
        let mode = if meta.is_symlink() { 0 } else { meta.mode() };
        let fact = format!("{mode:o} {}.{} {content}", meta.mtime(), meta.mtime_nsec());
        found.insert(path, fact);
    }
    found
}

#[test]
fn every_kind_of_change_comes_back() {
    for agent in [
        "true",
        "echo more >> src/a.rs",
        "touch src/a.rs",
        "rm src/a.rs src/deep/b.rs",
        "rm -r src .git link",
        "chmod 640 both; chmod 500 src",
        "mv src/a.rs src/z.rs; mv src/deep elsewhere",
        "rm -r src; echo file > src",
        "rm both; mkdir both; echo in > both/both",
        "rm swapped; mkdir swapped; echo again > swapped/file",
        "rm -r other-way; ln -s /etc other-way",
        "rm link; ln -s elsewhere link",
        "rm link; ln -s src/a.rs link",
        "mkdir -p a/b/c/d; chmod 700 a/b",
        "ln both hard; ln src/a.rs src/hard; echo changed >> hard",
        "rm 100%",
        "echo x > $'\\xff\\xfe'; mkdir $'d\\xff'; echo y > $'d\\xff/f'; echo z > $'new\\nline'; echo p > 50%25",
        "find . -mindepth 1 -delete",
        "for n in $(seq 3000); do echo $n > src/$n; done",
        "truncate -s 1G sparse; echo end >> sparse; rm sparse; truncate -s 300000 large",
        "chmod 755 .; touch -d 2001-01-01 .",
        "rmdir empty; mkdir empty",
    ] {
        Run::new().check(agent);
    }
}

#[test]
fn a_time_that_was_set_back_hides_no_change() {
    Run::new().check("stamp=$(stat -c %y both); echo HIGH > both; touch -d \"$stamp\" both");
    Run::new().check("stamp=$(stat -c %y src); rm src/a.rs; touch -d \"$stamp\" src");
    Run::new().check(
        "stamp=$(stat -c %y src/deep); mv src/deep x; mkdir src/deep; touch -d \"$stamp\" src/deep",
    );
}

#[test]
fn only_what_changed_is_saved() {
    let run = Run::new();
    shell(&run.workspace(), "echo 123456789 > src/new; rm both");
    run.save();
    assert_eq!(run.saved_bytes(), 10);
    let tree = saved_tree(&run.folder());
    assert!(!tree.join("bin").exists() && tree.join("src/new").is_file());
}

#[test]
fn closed_files_and_directories_come_back() {
    let run = Run::new();
    shell(
        &run.workspace(),
        "echo x > src/closed; mkdir -p shut/in; echo y > shut/in/y; chmod 0 src/closed shut/in shut bin/tool",
    );
    run.save();
    let made = run.dir.join("made");
    fs_err::create_dir(&made).unwrap();
    run.open()
        .unwrap()
        .restore(&Dir::open(&made).unwrap(), &Options::default())
        .unwrap();
    let mode = |path: &str| fs_err::symlink_metadata(made.join(path)).unwrap().mode() & 0o7777;
    assert_eq!([mode("src/closed"), mode("shut"), mode("bin/tool")], [0; 3]);
    shell(
        &made,
        "chmod 700 shut; chmod 700 shut/in; chmod 600 src/closed",
    );
    assert_eq!(
        fs_err::read_to_string(made.join("shut/in/y")).unwrap(),
        "y\n"
    );
    assert_eq!(
        fs_err::read_to_string(made.join("src/closed")).unwrap(),
        "x\n"
    );
}

#[test]
fn a_run_that_was_copied_without_its_times_is_whole() {
    let run = Run::new();
    run.save();
    shell(
        &run.dir.join(".terca"),
        "find layers -mindepth 1 -exec touch -h {} +; chmod -R g-r layers",
    );
    assert!(matches!(run.open(), Ok(Saved::Changed { .. })));
}

#[test]
fn a_damaged_layer_is_refused_by_its_name() {
    for damage in [
        "echo x >> src/a.rs", "rm -r bin", "echo x > added", "rm link; ln -s / link",
    ] {
        let run = Run::new();
        run.save();
        shell(&run.layers[0].tree, damage);
        match run.open() {
            Err(RestoreError::DamagedLayer { name }) => assert_eq!(name, run.layers[0].hash),
            other => panic!("{damage}: {other:?}"),
        }
    }
    let run = Run::new();
    run.save();
    shell(&run.dir, "rm -r .terca/layers");
    assert!(matches!(run.open(), Err(RestoreError::NoLayer { .. })));
}

#[test]
fn a_run_finds_its_own_layers_first_and_those_beside_all_runs_then() {
    let run = Run::new();
    run.save();
    let shared = ".terca/layers";
    shell(
        &run.dir,
        &format!(
            "touch .terca/runs/1/trial/run.log; cp -a {shared} .terca/runs/1; echo x > {shared}/{}/src/a.rs",
            run.layers[0].hash
        ),
    );
    assert!(matches!(run.open(), Ok(Saved::Changed { .. })));
    let opened = Dir::open(run.run_dir()).unwrap();
    let names: Vec<String> = layers_of(&opened).unwrap().into_iter().collect();
    let mut expected: Vec<String> = run.layers.iter().map(|layer| layer.hash.clone()).collect();
    expected.sort();
    assert_eq!(names, expected);
    // Copied elsewhere without them, it says what is missing.
    shell(
        &run.dir,
        "rm -r .terca/runs/1/layers; mv .terca/runs/1 elsewhere",
    );
    let elsewhere = Dir::open(run.dir.join("elsewhere")).unwrap();
    let checked = CheckedLayers::default();
    let missing = Saved::open(&elsewhere, "trial".into(), &checked, &Options::default());
    let missing = missing.unwrap_err().to_string();
    assert!(
        missing.contains("is missing") && missing.contains("copy it from `.terca/layers`"),
        "{missing}"
    );
}

#[test]
fn a_record_from_somebody_else_leads_nowhere() {
    let run = Run::new();
    run.save();
    let name = run.layers[0].hash.clone();
    for other in [
        "../../../secret",
        "..",
        "",
        "/etc",
        &name.to_uppercase(),
        &name[..64],
    ] {
        run.edit_record(&name, other);
        assert!(
            matches!(run.open(), Err(RestoreError::Record { .. })),
            "{other}"
        );
        run.edit_record(&format!("\"{other}\""), &format!("\"{name}\""));
    }
    // A link in the place of a layer is not followed, and one in the place of the changes is none.
    shell(
        &run.dir.join(".terca"),
        &format!("mv layers/{name} ../x; ln -s ../../x layers/{name}"),
    );
    assert!(matches!(run.open(), Err(RestoreError::NoLayer { .. })));
    shell(
        &run.folder(),
        "mv workspace.changes x; ln -s x workspace.changes",
    );
    assert!(run.open().is_err());
    shell(&run.folder(), "rm workspace.changes");
    assert!(matches!(run.open(), Err(RestoreError::NotSaved)));
}

#[test]
fn removed_paths_that_climb_out_remove_nothing() {
    let run = Run::new();
    shell(&run.workspace(), "rm both");
    run.save();
    fs_err::write(run.dir.join("precious"), "x").unwrap();
    run.edit_record("\"both\"", "\"../precious\", \"/etc/passwd\", \"both\"");
    let made = run.dir.join("made");
    fs_err::create_dir(&made).unwrap();
    let saved = run.open().unwrap();
    saved
        .restore(&Dir::open(&made).unwrap(), &Options::default())
        .unwrap();
    assert!(run.dir.join("precious").exists() && !made.join("both").exists());
}

#[test]
fn a_record_that_is_torn_or_of_another_version_is_told_so() {
    let run = Run::new();
    run.save();
    run.edit_record("\"version\": 1", "\"version\": 2");
    assert!(matches!(run.open(), Err(RestoreError::OtherVersion(2))));
    run.edit_record("\"version\": 2,", "");
    assert!(matches!(run.open(), Err(RestoreError::Record { .. })));
    fs_err::write(run.folder().join(CHANGES).join("changes.json"), "{").unwrap();
    let error = run.open().unwrap_err().to_string();
    assert!(error.contains("changes.json is damaged"), "{error}");
    fs_err::remove_file(run.folder().join(CHANGES).join("changes.json")).unwrap();
    let error = run.open().unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}

#[test]
fn every_path_comes_back_from_its_text() {
    let all: Vec<u8> = (1..=255).collect();
    for (bytes, text) in [
        (&b"src/a.rs"[..], "src/a.rs"),
        (b"100%/\xff\xfe.txt", "100%25/%ff%fe.txt"),
        ("ä\n".as_bytes(), "ä\n"),
        (b"%41", "%2541"),
    ] {
        let path = Path::new(OsStr::from_bytes(bytes));
        assert_eq!(text_of(path), text);
        assert_eq!(path_of(text).unwrap(), path);
    }
    let path = Path::new(OsStr::from_bytes(&all));
    assert_eq!(path_of(&text_of(path)).unwrap(), path);
}

#[test]
fn a_text_that_is_not_written_so_is_no_path() {
    for text in ["a%", "a%4", "%zz", "%ä"] {
        assert_eq!(path_of(text), None, "{text}");
    }
}
