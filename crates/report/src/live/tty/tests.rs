//! The display, seen through a terminal emulator.

use terca_core::run::event::{Phase, RunStatus, StopReason};

use super::*;
use crate::fixture::{self, Script};
use crate::term::screen::Screen;

const SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

/// The emulator is not `Send`, and the display is told its size by it: a size beside it does.
fn tty(screen: &Screen) -> (Tty<Screen>, std::sync::Arc<std::sync::Mutex<Size>>) {
    let size = std::sync::Arc::new(std::sync::Mutex::new(screen.size()));
    let read = size.clone();
    (
        Tty::with_size(screen.clone(), Palette::new(false), move || {
            *read.lock().unwrap()
        }),
        size,
    )
}

/// Four at a time; the trials end in the order of their ids.
fn run_of(trials: u32, concurrency: u32) -> Script {
    run_at(trials, concurrency, 0.3)
}

/// With so many seconds between events.
fn run_at(trials: u32, concurrency: u32, step: f64) -> Script {
    let heads = (1..=trials)
        .map(|id| fixture::head(id, &format!("eval-{id:04}"), "default", "default", 1))
        .collect();
    let mut script = Script::new(heads, concurrency as usize);
    for id in 1..=concurrency.min(trials) {
        script.start(id);
    }
    for id in 1..=trials {
        script
            .pass(step)
            .phase(id, Phase::Agent)
            .pass(step)
            .doing(id, "$ npm test", 900);
        script.pass(step).finish(id, &fixture::passed(0.9));
        if id + concurrency <= trials {
            script.start(id + concurrency);
        }
    }
    script.end(RunStatus::Complete);
    script
}

/// Plays with something happening on the way: after the n-th event, `meanwhile(n)`.
fn play(script: &Script, tty: &mut Tty<Screen>, mut meanwhile: impl FnMut(usize)) {
    let mut state = RunState::default();
    for (number, event) in script.events.iter().enumerate() {
        state.apply(event);
        tty.event(event, &state);
        tty.tick(event.at, &state);
        meanwhile(number);
    }
}

/// The finished trials that are to be read, in order.
fn finished(rows: &[String]) -> Vec<&str> {
    let names = rows
        .iter()
        .filter(|row| row.starts_with('✓'))
        .map(|row| row.split_whitespace().nth(2).unwrap());
    names.collect()
}

fn in_order(trials: u32) -> Vec<String> {
    (1..=trials).map(|id| format!("eval-{id:04}")).collect()
}

/// What a run leaves behind: the header, every trial once, and nothing of the frame.
fn assert_clean(screen: &Screen, trials: u32) {
    let rows = screen.everything();
    assert_eq!(finished(&rows), in_order(trials), "{rows:#?}");
    assert_eq!(rows.len(), trials as usize + 3, "{rows:#?}");
    assert!(
        rows[0].starts_with(&format!("basic-js: {trials} trials")) && rows[2].is_empty(),
        "{rows:#?}"
    );
    assert!(!screen.is_cursor_hidden());
    assert_eq!(screen.cursor().1, 0);
}

#[test]
fn a_run_leaves_a_clean_scrollback() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    play(&run_of(12, 4), &mut tty, |_| {});
    assert_clean(&screen, 12);
    insta::assert_snapshot!("tty_at_the_end", screen.text());
}

#[test]
fn the_screen_in_the_middle_of_a_run() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let mut seen = String::new();
    play(&run_of(12, 4), &mut tty, |number| {
        if number == 30 {
            seen = screen.text();
        }
    });
    insta::assert_snapshot!("tty_in_the_middle", seen);
}

/// From the first start to Ctrl+C, with every kind of ending and a second attempt on the way.
fn eventful_run() -> Script {
    let mut script = Script::new(fixture::heads(5, 4, 2), 8);
    for id in 1..=8 {
        script.start(id).pass(1.0);
    }
    for id in 1..=8 {
        script.phase(id, Phase::Agent).pass(3.0).doing(
            id,
            "$ npm test -- --watch=false",
            u64::from(id) * 4_321,
        );
    }
    for (id, report) in [
        (1, fixture::passed(32.0)),
        (
            2,
            fixture::failed(35.0, "check-file", "fib.js does not exist"),
        ),
        (3, fixture::partial(38.0, 0.5)),
        (4, fixture::error("`npm ci`: exit status 1")),
    ] {
        script.finish(id, &report).start(id + 8).pass(4.0);
    }
    let report = Box::new(fixture::error("429 Too Many Requests"));
    script
        .add(EventKind::AttemptFailed {
            trial: 5,
            report,
            wait_seconds: 20.0,
        })
        .start(13);
    script.pass(2.0).stop(StopReason::Interrupted);
    for id in [6, 7, 8, 9, 10, 11, 12, 13] {
        script.pass(0.5).finish(id, &fixture::interrupted(3.0));
    }
    script.end(RunStatus::Interrupted);
    script
}

#[test]
fn moments_of_a_run_at_several_sizes() {
    let script = eventful_run();
    let at = |wanted: fn(&EventKind) -> bool| {
        script
            .events
            .iter()
            .rposition(|event| wanted(&event.kind))
            .unwrap()
    };
    let moments = [
        ("everything has just begun", 8),
        (
            "agents at work",
            at(|kind| matches!(kind, EventKind::Progress { .. })),
        ),
        (
            "some have ended",
            at(|kind| matches!(kind, EventKind::AttemptFailed { .. })) + 1,
        ),
        (
            "Ctrl+C",
            at(|kind| matches!(kind, EventKind::Stopping { .. })),
        ),
        ("the end", script.events.len() - 1),
    ];
    for (columns, rows) in [
        (40, 18),
        (60, 18),
        (80, 24),
        (120, 30),
        (200, 30),
        (80, 8),
        (80, 4),
    ] {
        let screen = Screen::new(Size { columns, rows });
        let (mut tty, _) = tty(&screen);
        let mut seen = String::new();
        play(&script, &mut tty, |number| {
            let lines = screen.text();
            assert!(
                !screen.is_wrapped(),
                "{columns}x{rows} after {number}: {lines}"
            );
            if let Some((name, _)) = moments.iter().find(|(_, moment)| *moment == number) {
                seen += &format!("──── {name}\n{lines}\n");
            }
        });
        insta::assert_snapshot!(format!("tty_moments_{columns}x{rows}"), seen);
    }
}

#[test]
fn what_does_not_change_is_not_painted_again() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let mut script = Script::new(fixture::heads(4, 1, 1), 4);
    for id in 1..=4 {
        script
            .start(id)
            .phase(id, Phase::Agent)
            .doing(id, &format!("$ step {id}"), 900);
    }
    play(&script, &mut tty, |_| {});
    // Times are whole seconds, so within one there is nothing to be told.
    tty.tick(script.now + SignedDuration::from_millis(150), &script.state);
    let before = screen.writes().len();
    for tenth in 3..9 {
        tty.tick(
            script.now + SignedDuration::from_millis(tenth * 100),
            &script.state,
        );
    }
    assert_eq!(screen.writes().len(), before);
    script.pass(0.95).doing(3, "$ another", 950);
    tty.event(script.events.last().unwrap(), &script.state);
    let painted = screen.writes().pop().unwrap();
    assert!(
        painted.contains("$ another") && !painted.contains("$ step"),
        "{painted:?}"
    );
}

#[test]
fn at_every_moment_each_finished_trial_is_there_once() {
    for size in [
        SIZE,
        Size {
            columns: 120,
            rows: 40,
        },
        Size {
            columns: 40,
            rows: 6,
        },
        Size {
            columns: 20,
            rows: 3,
        },
    ] {
        let screen = Screen::new(size);
        let (mut tty, _) = tty(&screen);
        let script = run_of(12, 4);
        let mut done = 0;
        play(&script, &mut tty, |number| {
            done += u32::from(matches!(
                script.events[number].kind,
                EventKind::TrialFinished { .. }
            ));
            assert_eq!(
                finished(&screen.everything()),
                in_order(done),
                "{size:?} after {number}"
            );
        });
        assert_eq!(done, 12);
    }
}

#[test]
fn resizing_garbles_nothing() {
    let sizes = [
        Size {
            columns: 50,
            rows: 24,
        },
        Size {
            columns: 120,
            rows: 24,
        },
        Size {
            columns: 120,
            rows: 8,
        },
        Size {
            columns: 30,
            rows: 5,
        },
        Size {
            columns: 100,
            rows: 40,
        },
    ];
    let screen = Screen::new(SIZE);
    let (mut tty, size) = tty(&screen);
    let mut resizes = sizes.into_iter();
    play(&run_of(12, 4), &mut tty, |number| {
        if number % 9 == 8
            && let Some(next) = resizes.next()
        {
            screen.resize(next);
            *size.lock().unwrap() = next;
        }
    });
    assert!(resizes.next().is_none());
    assert_eq!(finished(&screen.everything()), in_order(12));
    let rows = screen.everything();
    let leftovers = rows
        .iter()
        .filter(|row| row.contains('━') || row.contains("agent") || row.contains("setup"));
    assert_eq!(leftovers.count(), 0, "{rows:#?}");
}

#[test]
fn a_thousand_trials_cost_little() {
    let screen = Screen::new(Size {
        columns: 120,
        rows: 40,
    });
    let (mut tty, _) = tty(&screen);
    let script = run_at(1_000, 64, 0.01);
    play(&script, &mut tty, |_| {});
    assert_clean(&screen, 1_000);
}

#[test]
fn a_flood_of_events_is_drawn_ten_times_a_second() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let mut script = Script::new(fixture::heads(2, 1, 1), 2);
    script.start(1);
    for step in 0..1_000 {
        script.pass(0.002).doing(1, &format!("step {step}"), step);
    }
    play(&script, &mut tty, |_| {});
    let draws = screen.writes().len();
    assert!((19..=22).contains(&draws), "{draws} draws in two seconds");
}

#[test]
fn hostile_names_cannot_touch_the_screen() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let evil = "evil\u{1b}[2J\u{1b}[H\u{1b}]0;pwned\u{7}\nname\u{202e}";
    let mut script = Script::new(vec![fixture::head(1, evil, "a\rb", "c\u{9b}31md", 1)], 1);
    script
        .start(1)
        .pass(1.0)
        .doing(1, "\u{1b}[1;1Hpwned\u{1b}[?1049h", 5)
        .pass(1.0);
    script
        .finish(1, &fixture::failed(2.0, "test\u{1b}[2J", "a\nb\u{1b}c"))
        .end(RunStatus::Complete);
    play(&script, &mut tty, |_| {});
    for write in screen.writes() {
        let sequences: Vec<&str> = write.split('\u{1b}').skip(1).collect();
        let ours = ["[?2026", "[?25", "[?7", "[K", "[J", "[1A", "[2A", "[3A"];
        assert!(
            sequences
                .iter()
                .all(|text| ours.iter().any(|ours| text.starts_with(ours))),
            "{sequences:?}"
        );
    }
    let rows = screen.everything();
    assert_eq!(rows.len(), 4, "{rows:#?}");
    assert!(rows[3].starts_with("✗ 0.00   evil␛[2J"), "{rows:#?}");
}

#[test]
fn stopping_is_told_in_the_frame_and_in_the_scrollback() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let mut script = Script::new(fixture::heads(2, 1, 1), 2);
    script
        .start(1)
        .start(2)
        .pass(1.0)
        .stop(StopReason::Interrupted);
    play(&script, &mut tty, |_| {});
    let text = screen.text();
    assert!(text.contains("stopping: interrupted\n"), "{text}");
    assert!(
        text.contains("stopping, waiting for 2 trials (Ctrl+C again to leave at once)\n"),
        "{text}"
    );
}

#[test]
fn a_run_joined_late_has_its_header_and_names() {
    let screen = Screen::new(SIZE);
    let (mut tty, _) = tty(&screen);
    let script = fixture::busy_run();
    tty.event(script.events.last().unwrap(), &script.state);
    assert!(
        screen.text().starts_with("basic-js: 40 trials"),
        "{}",
        screen.text()
    );
    assert!(screen.text().contains("gemini.base"), "{}", screen.text());
}
