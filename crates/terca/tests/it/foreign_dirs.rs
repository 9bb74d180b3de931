//! Directories to work in that another user of the machine has made, or can put something else in the place of.

mod needs_root {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};

    use camino::{Utf8Path, Utf8PathBuf};
    use terca_testkit::{Outcome, Project};

    use crate::common::project;

    /// The user who runs Terca, and another one who wants to run programs as that user.
    const ME: u32 = 12_345;
    const OTHER: u32 = 54_321;

    fn dir(path: &Utf8Path, owner: u32, mode: u32) {
        create_dir(path).unwrap();
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
        chown(path, Some(owner), Some(owner)).unwrap();
    }

    fn link(target: &Utf8Path, path: &Utf8Path) {
        dir(target, ME, 0o700);
        symlink(target, path).unwrap();
        lchown(path, Some(OTHER), Some(OTHER)).unwrap();
    }

    /// A suite of one's own, and a directory beside it for what is shared.
    fn of_mine() -> (Project, Utf8PathBuf) {
        let project = project().agent("echo x > made.txt");
        let root = project.dir().parent().unwrap().to_owned();
        set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_terca"), root.join("terca")).unwrap();
        let suite = format!(
            "{}workers: {{here: {{start: 'env -u TERCA_WORK_DIR TMPDIR={root}/shared', terca: {root}/terca}}}}\n\
             evals: [{{name: a, prompt: x, tests: [{{fileExists: made.txt}}]}}]\n",
            project.read("terca.yaml")
        );
        let project = project.file("terca.yaml", suite);
        for path in [project.dir(), project.home(), project.work_dir()] {
            chown(&path, Some(ME), Some(ME)).unwrap();
        }
        (project, root)
    }

    fn run(project: &Project, work_dir: &Utf8Path, on: &str) -> Outcome {
        let program = project.dir().with_file_name("terca");
        let (user, group) = (format!("--reuid={ME}"), format!("--regid={ME}"));
        let args = [
            &user,
            &group,
            "--clear-groups",
            program.as_str(),
            "run",
            "--on",
            on,
        ];
        let mut command = project.other("setpriv", &args);
        command.env("TERCA_WORK_DIR", work_dir);
        command.output().unwrap().into()
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_directory_that_another_user_can_change_is_refused() {
        type Make = fn(&Utf8Path);
        // Each makes `shared` in a directory of the superuser's, with the directory to work in.
        let cases: [(&str, Make, &str); 7] = [
            (
                "",
                |shared| dir(shared, OTHER, 0o755),
                "shared belongs to another user",
            ),
            (
                "",
                |shared| dir(shared, 0, 0o777),
                "shared lets other users change what is in it (`chmod go-w`",
            ),
            (
                "mine",
                |shared| {
                    dir(shared, OTHER, 0o755);
                    dir(&shared.join("mine"), ME, 0o700);
                },
                "shared belongs to another user",
            ),
            (
                "link",
                |shared| {
                    dir(shared, 0, 0o1777);
                    link(&shared.join("mine"), &shared.join("link"));
                },
                "shared/link is a link of another user",
            ),
            (
                "link/deeper",
                |shared| {
                    dir(shared, 0, 0o1777);
                    link(&shared.join("mine"), &shared.join("link"));
                },
                "shared/link is a link of another user",
            ),
            (
                "",
                |shared| {
                    dir(shared, 0, 0o1777);
                    dir(&shared.join(format!("terca-{ME}")), OTHER, 0o777);
                },
                "belongs to another user",
            ),
            (
                "",
                |shared| {
                    dir(shared, 0, 0o1777);
                    link(&shared.join("mine"), &shared.join(format!("terca-{ME}")));
                },
                "is a symbolic link",
            ),
        ];
        for (place, make, words) in cases {
            let (project, root) = of_mine();
            make(&root.join("shared"));
            let work_dir = root.join("shared").join(place);
            let refused = run(&project, &work_dir, "local").expect_status(2).stderr;
            assert!(refused.contains(words), "{words}: {refused}");
            assert!(refused.contains("\nhelp: "), "{refused}");
            assert!(!project.has_run());
            assert!(!work_dir.exists() || !place.contains("deeper"));
            let text = project.read("terca.yaml");
            let text = text.replace("/shared'", &format!("/shared/{place}'"));
            let project = project.file("terca.yaml", text);
            let refused = run(&project, &project.work_dir(), "here")
                .expect_status(2)
                .stderr;
            assert!(refused.contains(words), "{words}: {refused}");
            assert!(refused.contains("\nhelp: "), "{refused}");
        }
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_directory_of_all_has_one_of_each_user() {
        let (project, root) = of_mine();
        let shared = root.join("shared");
        dir(&shared, 0, 0o1777);
        for on in ["local", "here"] {
            run(&project, &shared, on).expect_status(0);
            let own = shared.join(format!("terca-{ME}"));
            let found = own.metadata().unwrap();
            assert_eq!((found.uid(), found.mode() & 0o777), (ME, 0o700), "{on}");
        }
    }
}
