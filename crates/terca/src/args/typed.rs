//! Arguments together with the words that were typed for them, for a command that starts another one with the same.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

/// Arguments, and the words for them.
#[derive(Debug, Clone)]
pub struct Typed<T> {
    pub args: T,
    flags: Vec<Flag>,
}

/// A flag that was typed.
#[derive(Debug, Clone)]
struct Flag {
    id: String,
    words: Vec<String>,
}

impl<T: Args> Typed<T> {
    /// Returns the words, with every flag by its long name.
    pub fn words(&self) -> Vec<String> {
        let words = self.flags.iter().flat_map(|flag| &flag.words);
        words.cloned().collect()
    }

    /// Returns the words, but for those of arguments that `U` has too.
    pub fn words_without<U: Args>(&self) -> Vec<String> {
        let others = U::augment_args(Command::new(""));
        let is_of_others = |flag: &Flag| {
            let mut ids = others.get_arguments().map(Arg::get_id);
            ids.any(|id| id.as_str() == flag.id)
        };
        let flags = self.flags.iter().filter(|flag| !is_of_others(flag));
        flags.flat_map(|flag| flag.words.clone()).collect()
    }

    fn of(args: T, matches: &ArgMatches) -> Self {
        let command = T::augment_args(Command::new(""));
        let typed = command.get_arguments().filter(|argument| {
            let source = matches.value_source(argument.get_id().as_str());
            source == Some(ValueSource::CommandLine)
        });
        let flags = typed.filter_map(|argument| {
            let flag = format!("--{}", argument.get_long()?);
            let id = argument.get_id().to_string();
            let words = if argument.get_action().takes_values() {
                let values = matches.get_raw(&id)?;
                let values = values.map(|value| value.to_string_lossy().into_owned());
                values.flat_map(|value| [flag.clone(), value]).collect()
            } else {
                vec![flag]
            };
            Some(Flag { id, words })
        });
        Typed {
            args,
            flags: flags.collect(),
        }
    }
}

impl<T: Args> FromArgMatches for Typed<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Typed::of(T::from_arg_matches(matches)?, matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Typed::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: Args> Args for Typed<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}
