//! Masks the words of agents and commands in the events of a run.
//!
//! Every field is named here, so that a new one is either masked or passed by on purpose. Names of the plan stay as they
//! are: a trial is found by them.

use std::sync::Arc;

use crate::agent::access::Access;
use crate::agent::delivery::{Delivery, Installed};
use crate::grade::grades::Scorecard;
use crate::grade::test_report::Case;
use crate::grade::{Grade, JudgeRecord, JudgedBy, Reason};
use crate::run::event::{EventKind, RegradedTrial, TrialHead};
use crate::run::outcome::TrialReport;
use crate::text::mask::Mask;
use crate::trial_error::TrialError;
use crate::wire::network::RefusedHost;

impl EventKind {
    /// Masks the secrets in an event. It is done once, before the event is written, folded and shown.
    #[must_use]
    pub fn masked(mut self, mask: &Mask) -> Self {
        if mask.is_empty() {
            return self;
        }
        match &mut self {
            EventKind::RunStarted(start) => {
                if let Some(design) = &mut start.ablation {
                    *design = Arc::new((**design).clone().masked(mask));
                }
                for TrialHead { model, .. } in &mut start.trials {
                    optional(model, mask);
                }
                for description in start.descriptions.texts_mut() {
                    text(description, mask);
                }
            }
            EventKind::TrialStarted { on, .. } => optional(on, mask),
            EventKind::Progress { doing, .. } => text(doing, mask),
            EventKind::TrialFinished { report, .. } | EventKind::AttemptFailed { report, .. } => {
                report.mask(mask);
            }
            EventKind::VariantStopped(stopped) => text(&mut stopped.error.message, mask),
            EventKind::Regraded { trials, .. } => {
                for RegradedTrial { report, .. } in trials {
                    report.mask(mask);
                }
            }
            EventKind::RunResumed { .. }
            | EventKind::RoundStarted { .. }
            | EventKind::StepsFound { .. }
            | EventKind::StepMade { .. }
            | EventKind::PhaseStarted { .. }
            | EventKind::Stopping { .. }
            | EventKind::RunFinished { .. } => {}
        }
        self
    }
}

impl TrialReport {
    /// Masks the secrets in a report.
    pub fn mask(&mut self, mask: &Mask) {
        let TrialReport {
            agent_version,
            status: _,
            score: _,
            reported: _,
            tests,
            stats: _,
            wire,
            exit_code: _,
            timed_out: _,
            attempts: _,
            grading: _,
            delivery,
            contained_by: _,
            ran_on,
            image: _,
            limits_kept_by: _,
            network,
            started_at: _,
            duration_seconds: _,
            phases: _,
            notes,
            paid_judges,
            error,
            evidence,
        } = self;
        // An agent may call a file by a secret.
        evidence.retain(|name, _| !mask.hides(name.as_bytes()));
        optional(agent_version, mask);
        optional(ran_on, mask);
        if let Some(wire) = wire {
            wire.mask(mask);
        }
        let refused = network.iter_mut().flat_map(|network| &mut network.refused);
        for RefusedHost { host, .. } in refused {
            text(host, mask);
        }
        mask_grades(tests, mask);
        mask_delivery(delivery, mask);
        for note in notes {
            text(note, mask);
        }
        for judge in paid_judges {
            mask_judge(judge, mask);
        }
        if let Some(TrialError { kind: _, message }) = error {
            text(message, mask);
        }
    }
}

fn text(text: &mut String, mask: &Mask) {
    if mask.hides(text.as_bytes()) {
        *text = mask.text(text);
    }
}

fn optional(words: &mut Option<String>, mask: &Mask) {
    if let Some(words) = words {
        text(words, mask);
    }
}

fn mask_grades(tests: &mut Scorecard, mask: &Mask) {
    for (_, grade) in tests {
        let Grade {
            score: _,
            weight: _,
            message,
            duration_seconds: _,
            tests_touched,
            judge,
            assertion,
            output_end,
            report,
        } = grade;
        text(message, mask);
        let lines = assertion.iter_mut().chain(output_end);
        for line in lines.chain(tests_touched) {
            text(line, mask);
        }
        for case in report.iter_mut().flat_map(|report| &mut report.cases) {
            let Case {
                name,
                end: _,
                message,
            } = case;
            text(name, mask);
            text(message, mask);
        }
        if let Some(judge) = judge {
            mask_record(judge, mask);
        }
    }
}

fn mask_record(record: &mut JudgeRecord, mask: &Mask) {
    let JudgeRecord {
        score: _,
        reasons,
        by,
    } = record;
    for reason in reasons {
        let Reason {
            criterion,
            score: _,
            reason,
        } = reason;
        optional(criterion, mask);
        text(reason, mask);
    }
    mask_judge(by, mask);
}

fn mask_judge(judge: &mut JudgedBy, mask: &Mask) {
    let JudgedBy {
        agent: _,
        agent_version,
        model,
        access,
        stats: _,
        artifacts: _,
    } = judge;
    optional(agent_version, mask);
    optional(model, mask);
    mask_access(access.as_mut(), mask);
}

fn mask_access(access: Option<&mut Access>, mask: &Mask) {
    for origin in access
        .into_iter()
        .flat_map(|access| access.endpoints.values_mut())
    {
        text(origin, mask);
    }
}

fn mask_delivery(delivery: &mut Delivery, mask: &Mask) {
    let Delivery {
        rules,
        skills,
        mcp_servers,
        model_requested,
        model_observed,
        version_requested,
        access,
    } = delivery;
    for Installed {
        path,
        sha256: _,
        may_be_cut: _,
        uses: _,
    } in rules.iter_mut().chain(skills)
    {
        text(path, mask);
    }
    for tap in mcp_servers.values_mut().flat_map(|server| &mut server.tap) {
        tap.mask(mask);
    }
    optional(model_requested, mask);
    optional(model_observed, mask);
    optional(version_requested, mask);
    mask_access(access.as_mut(), mask);
}
