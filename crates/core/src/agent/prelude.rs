//! The names that the files of most agents use.

pub(super) use serde_json::{Map, Value, json};

pub(super) use super::conversation::Shows;
pub(super) use super::errors;
pub(super) use super::fields::{Fields, text_of};
pub(super) use super::mcp::{self, McpServer, ServerTool};
pub(super) use super::model_service::{COMMON_SERVICES, ModelService, usual};
pub(super) use super::options::{OptionWays, Way};
pub(super) use super::session::{self, Protocol, Session, failed};
pub(super) use super::tokens::Tokens;
pub(super) use super::{
    Agent, Capabilities, Ending, FilesYield, Inputs, Invocation, Launch, Package, PlacedFile,
    Profile, SideFile, Skippable, Stdin,
};
pub(super) use crate::process::{Exit, Signal};
pub(super) use crate::text::json::object;
pub(super) use crate::transcript::{Role, Step, Usage, total};
pub(super) use crate::trial_error::{ErrorKind, TrialError};
