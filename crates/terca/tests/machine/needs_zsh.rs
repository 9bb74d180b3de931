//! Completions in a real zsh.

use crate::common::completion::{complete_everything, shell, with_a_run};

#[test]
#[ignore = "needs zsh"]
fn a_real_zsh_completes() {
    let (project, run) = with_a_run();
    let setup = "autoload -U compinit; compinit -u -D; source <(terca completions zsh)";
    let mut terminal = shell(&project, "zsh", &["-f", "-i"], setup);
    complete_everything(&mut terminal, &run);
    terminal.type_in("exit\n");
    assert_eq!(terminal.finish().0, 0);
}
