//! Builds images from Dockerfiles, each once: its name has the hash of the files that it is built from.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::dockerfile;
use terca_core::config::sandbox::{Build, ContainerEngine, Image};
use terca_core::grade::failure_line;
use terca_core::text::excerpt;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::text::stripped::stripped;

use super::SandboxError;
use super::container::EngineProgram;
use crate::workspace::sealed_suite::SealedSuite;

/// The name of all images that Terca builds. Their tags differ.
const NAME: &str = "terca-build";
/// The most lines of a builder's output that a message has.
const MOST_LINES: usize = 15;

/// The most characters of an instruction in a message.
const LONGEST_SHOWN: usize = 100;
/// The beginnings of lines with which builders begin a step, or the output of the one that failed.
const STEPS: [&str; 3] = ["\nStep ", "\nSTEP ", "\n > ["];

/// The means to build images for a run.
#[derive(Debug, Clone, Copy)]
pub struct Builds<'a> {
    /// The files that images are built from, as they are when the run starts.
    pub sealed: &'a SealedSuite,
    /// Images that were built before this run are not used.
    pub anew: bool,
    /// Tells the user that it begins, since it may take long.
    pub tell: Option<fn(&str)>,
}

/// An image that could not be built.
#[derive(Debug)]
pub struct BuildFailure {
    engine: ContainerEngine,
    file: Utf8PathBuf,
    /// The number and the text of the line at which the builder gave up.
    line: Option<(usize, String)>,
    output: String,
}

impl BuildFailure {
    /// Returns the engine that could not build it.
    pub(super) fn engine(&self) -> ContainerEngine {
        self.engine
    }

    fn subject(&self) -> String {
        let (title, file) = (self.engine.title(), &self.file);
        match &self.line {
            Some((line, text)) => {
                let text = excerpt::beginning(text, LONGEST_SHOWN);
                format!("{title} cannot build the image of {file}, line {line} ({text})")
            }
            None => format!("{title} cannot build the image of {file}"),
        }
    }

    /// Returns it in one line, with the most telling words of the step that failed.
    pub(super) fn in_short(&self) -> String {
        let begun = STEPS.iter().filter_map(|step| self.output.rfind(step));
        let step = &self.output[begun.max().unwrap_or(0)..];
        // Not the line that names the step.
        let said = step
            .trim_start()
            .split_once('\n')
            .map_or(step, |(_, said)| said);
        let told = failure_line(&Mask::default().masked(said));
        format!(
            "{}: {}",
            self.subject(),
            told.as_deref().unwrap_or("it says nothing")
        )
    }
}

impl fmt::Display for BuildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.subject())?;
        let lines: Vec<&str> = self.output.trim().lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(MOST_LINES)) {
            write!(f, "\n  {}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns the words about all images that could not be built.
pub(super) fn told(failures: &[BuildFailure]) -> String {
    prose::joined(failures.iter().map(ToString::to_string), "\n")
}

impl Builds<'_> {
    /// Builds an image, unless it is there. `dir` is an empty directory. Returns its name.
    pub(super) fn build(
        &self,
        build: &Build,
        engine: &EngineProgram,
        dir: &Utf8Path,
    ) -> Result<Image, SandboxError> {
        let key = (self.sealed).fingerprint(&Mask::default(), None, |all| all.build_key(build));
        let name = format!("{NAME}:{key}");
        if self.anew || engine.output(&["image", "inspect", &name]).is_err() {
            self.make(build, engine, dir, &name)?;
        }
        Image::try_from(name).map_err(|reason| SandboxError::Files(std::io::Error::other(reason)))
    }

    fn make(
        &self,
        build: &Build,
        engine: &EngineProgram,
        dir: &Utf8Path,
        name: &str,
    ) -> Result<(), SandboxError> {
        if let Some(tell) = self.tell {
            let (file, title) = (&build.file, engine.engine.title());
            tell(&format!("{title} builds the image of {file}"));
        }
        let file = self.sealed.place_or_original(&build.file);
        let context = match &build.context {
            Some(context) => self.sealed.place_or_original(context),
            None => dir.join("context"),
        };
        fs_err::create_dir_all(&context)?;
        let mut args = vec![
            "build",
            "--force-rm",
            "--tag",
            name,
            "--file",
            file.as_str(),
        ];
        if self.anew {
            args.push("--no-cache");
        }
        args.push(context.as_str());
        let log = dir.join("log");
        if engine.run_long(&args, &log)? {
            return Ok(());
        }
        let output = stripped(&String::from_utf8_lossy(&fs_err::read(&log)?));
        let text = fs_err::read_to_string(&file).unwrap_or_default();
        let line = dockerfile::failing(&text, &output);
        Err(SandboxError::Build(vec![BuildFailure {
            engine: engine.engine,
            file: build.file.clone(),
            line: line.map(|one| (one.line, one.text())),
            output,
        }]))
    }
}
