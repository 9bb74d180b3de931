//! `oracle`: lays the eval's `_solution/` over the workspace. An eval whose oracle fails is broken.

use super::nop::{Silent, invocation, profile};
use super::{Agent, Decoder, Inputs, Invocation, Launch, Profile};

#[derive(Debug)]
pub(super) struct Oracle;

static PROFILE: Profile = profile("oracle");

impl Agent for Oracle {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, _: &Inputs<'_>) -> Invocation {
        invocation(Launch::LaySolution)
    }

    fn decoder(&self, _: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Silent)
    }
}
