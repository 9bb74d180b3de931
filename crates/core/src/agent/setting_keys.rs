//! The keys in an agent's settings, and the services that they are for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::config_texts::secret_places;

/// The keys that an agent's settings have, and the services of the settings that have none there.
#[derive(Debug)]
pub(super) struct SettingKeys {
    /// The keys, with the origins of the services next to them.
    pub(super) keys: Vec<(String, BTreeSet<usize>)>,
    /// The origins of all services in the settings.
    all: BTreeSet<usize>,
    /// The origins of services without a key in the settings: it is in a variable.
    without: BTreeSet<usize>,
}

impl SettingKeys {
    /// Finds the keys of the services that the settings describe. Without such a service, no key there is replaced.
    /// A service is the place of its address, and the index of its origin.
    pub(super) fn find(config: Option<&Value>, services: &[(Vec<String>, usize)]) -> Self {
        let all: BTreeSet<usize> = services.iter().map(|(_, origin)| *origin).collect();
        let mut found = SettingKeys {
            keys: Vec::new(),
            without: all.clone(),
            all,
        };
        let Some(config) = config.filter(|_| !services.is_empty()) else {
            return found;
        };
        for (place, key) in secret_places(config) {
            let shared = |path: &[String]| {
                let parts = place.iter().zip(path);
                parts.take_while(|(own, other)| own == other).count()
            };
            let most = services.iter().map(|(path, _)| shared(path)).max();
            let mut origins = BTreeSet::new();
            for (path, origin) in services {
                let common = shared(path);
                if Some(common) == most {
                    origins.insert(*origin);
                }
                // The key is in the same map as the address, or further down in it.
                if common + 1 == path.len() {
                    found.without.remove(origin);
                }
            }
            found.keys.push((key, origins));
        }
        found
    }

    /// Returns the services in the settings that may take their key from a variable. One that has a service of its own
    /// is not for those that have a key.
    pub(super) fn of_variable(&self, has_own: bool) -> BTreeSet<usize> {
        if has_own || !self.without.is_empty() {
            self.without.clone()
        } else {
            self.all.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_for_the_service_next_to_it() {
        let config = json!({"provider": {
            "a": {"options": {"baseURL": "http://a", "apiKey": "key-of-a"}},
            "b": {"options": {"baseURL": "http://b"}, "headers": {"Authorization": "key-of-b"}},
            "c": {"options": {"baseURL": "http://c"}},
        }, "token": "key-of-all"});
        let paths =
            ["a", "b", "c"].map(|name| ["provider", name, "options", "baseURL"].map(str::to_owned));
        let services: Vec<(Vec<String>, usize)> =
            paths.iter().map(|path| path.to_vec()).zip(0..).collect();
        let found = SettingKeys::find(Some(&config), &services);
        let keys: Vec<(&str, Vec<usize>)> = found
            .keys
            .iter()
            .map(|(key, origins)| (key.as_str(), origins.iter().copied().collect()))
            .collect();
        assert_eq!(
            keys,
            [
                ("key-of-a", vec![0]),
                ("key-of-b", vec![1]),
                ("key-of-all", vec![0, 1, 2])
            ]
        );
        assert_eq!(
            found.of_variable(true),
            BTreeSet::from([1, 2]),
            "the others may have theirs in a variable"
        );
        let none = SettingKeys::find(Some(&config), &[]);
        assert!(none.keys.is_empty() && none.of_variable(false).is_empty());
    }
}
