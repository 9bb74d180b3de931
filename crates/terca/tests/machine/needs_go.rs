//! Projects in Go: `terca mine` finds the recipe of their tests, and `terca init` makes suites that are proven.

use crate::common::history::History;
use crate::common::layouts::OF_GO;
use crate::common::project;
use crate::needs_bwrap::mine::all_are_written;

#[test]
#[ignore = "needs Go and bubblewrap"]
fn a_module_without_dependencies() {
    let project = project();
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[
            ("go.mod", "module example.com/words\n\ngo 1.18\n"),
            (
                "words.go",
                "package words\n\nfunc Words(text string) int {\n\treturn len(text)\n}\n",
            ),
        ],
    );
    let commit = history.commit(
        "Count words and not bytes",
        &[
            (
                "words.go",
                "package words\n\nimport \"strings\"\n\nfunc Words(text string) int {\n\treturn len(strings.Fields(text))\n}\n",
            ),
            (
                "words_test.go",
                "package words\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Words(\"ab cd\") != 2 {\n\t\tt.Fatal(\"not two\")\n\t}\n}\n",
            ),
        ],
    );
    all_are_written(&project, &[&commit]);
}

#[test]
#[ignore = "needs Go, bubblewrap and Landlock"]
fn new_suites_are_proven() {
    for layout in &OF_GO {
        for project in [layout.make(), layout.make().directory(".git")] {
            let project = project.env("TERCA_SANDBOX", "bwrap");
            layout.init(&project, &[]);
            layout.assert_written(&project);
            layout.prove(&project, "landlock");
        }
    }
}
