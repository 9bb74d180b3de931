//! The hosts that an agent needs to ask its models.

use super::access::Access;
use super::profile::{FilesYield, Profile, provider_of};
use crate::wire::network::HostPattern;

/// The hosts of providers, by the names that [`provider_of`] has for them.
const OF_PROVIDERS: [(&str, &[&str]); 16] = [
    ("ai_gateway", &["ai-gateway.vercel.sh"]),
    ("anthropic", &["api.anthropic.com", "console.anthropic.com"]),
    ("azure_openai", &["*.openai.azure.com"]),
    ("cerebras", &["api.cerebras.ai"]),
    ("deepseek", &["api.deepseek.com"]),
    ("fireworks", &["api.fireworks.ai"]),
    ("google", &["generativelanguage.googleapis.com"]),
    ("groq", &["api.groq.com"]),
    (
        "kimi",
        &["api.kimi.com", "api.moonshot.ai", "api.moonshot.cn"],
    ),
    ("minimax", &["api.minimax.io", "api.minimaxi.com"]),
    ("mistral", &["api.mistral.ai"]),
    ("moonshot", &["api.moonshot.ai", "api.moonshot.cn"]),
    ("openai", &["api.openai.com"]),
    ("openrouter", &["openrouter.ai"]),
    ("xai", &["api.x.ai"]),
    ("zai", &["api.z.ai"]),
];

/// The host of Vertex AI without a region.
const VERTEX: &str = "aiplatform.googleapis.com";

/// Returns the hosts that an agent with this access needs to ask its models, each once. Those of `led` are left out: the
/// gateway asks these origins for it. `region` is the one of Google's cloud, where Vertex AI has a host for each.
pub fn model_hosts(
    profile: &Profile,
    access: &Access,
    led: &[String],
    region: Option<&str>,
) -> Vec<HostPattern> {
    let services = profile.services.iter().map(|service| service.usual);
    let endpoints = access.endpoints.values().map(String::as_str);
    let origins = services.chain(endpoints).filter_map(HostPattern::of_origin);
    let credentials = &access.credentials;
    // The file has entries of providers that only the agent knows.
    let has_any_provider = credentials.iter().any(|name| name.starts_with('~'))
        && matches!(profile.files_yield, FilesYield::ByProvider(_));
    let variables = credentials.iter().filter_map(|name| name.strip_prefix('$'));
    let providers: Vec<String> = variables.map(provider_of).collect();
    let of_providers = OF_PROVIDERS
        .iter()
        .filter(|(name, _)| has_any_provider || providers.iter().any(|provider| provider == name))
        .flat_map(|(_, hosts)| *hosts);
    let named = profile.hosts.iter().chain(of_providers);
    // One whose models are behind the gateway does not ask Vertex AI.
    let asks_vertex = led.is_empty() && profile.hosts.contains(&VERTEX);
    let region = region.filter(|_| asks_vertex);
    let of_vertex = region.map(|region| format!("{region}-{VERTEX}"));
    let hosts = named.map(|host| (*host).to_owned()).chain(of_vertex);
    let hosts = origins.chain(hosts.filter_map(|host| host.parse().ok()));
    each_once(hosts.filter(|host| !led.iter().any(|origin| is_of(host, origin))))
}

/// Returns hosts in their order, each once.
pub(super) fn each_once(hosts: impl Iterator<Item = HostPattern>) -> Vec<HostPattern> {
    let mut unique: Vec<HostPattern> = Vec::new();
    for host in hosts {
        if !unique.contains(&host) {
            unique.push(host);
        }
    }
    unique
}

/// Returns whether a host is that of an origin.
fn is_of(host: &HostPattern, origin: &str) -> bool {
    let Some(origin) = HostPattern::of_origin(origin) else {
        return false;
    };
    *host == origin || format!("{host}:443") == origin.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::find;

    fn hosts(agent: &str, access: &Access, led: &[&str]) -> Vec<String> {
        let led: Vec<String> = led.iter().map(|origin| (*origin).to_owned()).collect();
        let profile = find(agent).unwrap().profile();
        let hosts = model_hosts(profile, access, &led, Some("europe-west4"));
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_agent_reaches_its_services_and_those_of_its_keys() {
        let mut access = Access::default();
        assert!(hosts("claude-code", &access, &[]).contains(&"api.anthropic.com:443".to_owned()));
        assert!(!hosts("opencode", &access, &[]).contains(&"openrouter.ai".to_owned()));
        access.credentials.push("$OPENROUTER_API_KEY".to_owned());
        assert!(hosts("opencode", &access, &[]).contains(&"openrouter.ai".to_owned()));
        access.add_variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/v1");
        let found = hosts("claude-code", &access, &[]);
        assert!(found.contains(&"127.0.0.1:8080".to_owned()), "{found:?}");
    }

    #[test]
    fn vertex_has_a_host_for_a_region() {
        let access = Access::default();
        let regional = "europe-west4-aiplatform.googleapis.com".to_owned();
        assert!(hosts("gemini-cli", &access, &[]).contains(&regional));
        assert!(!hosts("codex", &access, &[]).contains(&regional));
        let led = ["https://generativelanguage.googleapis.com"];
        assert!(!hosts("gemini-cli", &access, &led).contains(&regional));
    }

    #[test]
    fn a_file_of_many_providers_reaches_all_of_them() {
        let access = Access {
            credentials: vec!["~/.local/share/opencode/auth.json".to_owned()],
            ..Access::default()
        };
        let found = hosts("opencode", &access, &[]);
        for (_, all) in OF_PROVIDERS {
            assert!(
                all.iter().all(|host| found.contains(&(*host).to_owned())),
                "{all:?}"
            );
        }
    }

    #[test]
    fn the_services_that_the_gateway_asks_are_left_out() {
        let mut access = Access::default();
        access.credentials.push("$ANTHROPIC_API_KEY".to_owned());
        access.add_variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080");
        let led = ["https://api.anthropic.com", "http://127.0.0.1:8080"];
        let found = hosts("claude-code", &access, &led);
        assert!(
            !found.iter().any(|host| host.contains("api.anthropic.com")),
            "{found:?}"
        );
        assert!(
            !found.iter().any(|host| host.contains("127.0.0.1")),
            "{found:?}"
        );
    }

    #[test]
    fn every_host_that_is_written_here_is_one() {
        let profiles = crate::agent::names()
            .into_iter()
            .filter_map(|name| Some(find(name)?.profile()));
        let of_profiles = profiles.flat_map(|profile| profile.hosts);
        for host in OF_PROVIDERS
            .iter()
            .flat_map(|(_, hosts)| *hosts)
            .chain(of_profiles)
        {
            assert!(host.parse::<HostPattern>().is_ok(), "{host}");
        }
    }
}
