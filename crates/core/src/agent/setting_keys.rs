//! The keys in an agent's settings, and the services that they are for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::config_texts::secret_places;

/// The keys that an agent's settings have, and the services of the settings that have none there.
#[derive(Debug, Default)]
pub(super) struct SettingKeys {
    /// The keys, with the origins of the services next to them.
    pub(super) keys: Vec<(String, BTreeSet<usize>)>,
    /// The origins of services without a key in the settings: it is in a variable.
    pub(super) without: BTreeSet<usize>,
}

impl SettingKeys {
    /// Finds the keys of the services that the settings describe. Without such a service, no key there is replaced.
    /// A service is the place of its address, and the index of its origin.
    pub(super) fn find(config: &Value, services: &[(String, usize)]) -> Self {
        let mut found = SettingKeys::default();
        if services.is_empty() {
            return found;
        }
        found.without = services.iter().map(|(_, origin)| *origin).collect();
        for (place, key) in secret_places(config) {
            let shared = |path: &str| {
                let parts = place.split('/').zip(path.split('/'));
                parts.take_while(|(own, other)| own == other).count()
            };
            let most = services.iter().map(|(path, _)| shared(path)).max();
            let nearest = services
                .iter()
                .filter(|(path, _)| Some(shared(path)) == most);
            let nearest = nearest.map(|(_, origin)| *origin).collect();
            found.keys.push((key, nearest));
            // The key is in the same map as the address, or further down in it.
            let beside = services
                .iter()
                .filter(|(path, _)| shared(path) + 1 == path.split('/').count());
            for (_, origin) in beside {
                found.without.remove(origin);
            }
        }
        found
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
        let paths = ["a", "b", "c"].map(|name| format!("/provider/{name}/options/baseURL"));
        let services: Vec<(String, usize)> = paths.into_iter().zip(0..).collect();
        let found = SettingKeys::find(&config, &services);
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
            found.without,
            BTreeSet::from([1, 2]),
            "the others may have theirs in a variable"
        );
        let none = SettingKeys::find(&config, &[]);
        assert!(none.keys.is_empty() && none.without.is_empty());
    }
}
