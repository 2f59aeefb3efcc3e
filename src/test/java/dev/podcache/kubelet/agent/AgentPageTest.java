package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Faults;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.kubelet.server.PageServer;
import dev.podcache.testing.Browser;
import dev.podcache.testing.BrowserTab;
import dev.podcache.testing.BrowserTest;
import dev.podcache.testing.FixedHost;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServedCluster;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The page of a node agent in Chromium, while things change at an API server in memory. */
@Slow
@BrowserTest
@ExtendWith(NoLeaks.class)
class AgentPageTest {

    private static final String NODE = "worker-1";

    private final ServedCluster served = new ServedCluster();
    private final InMemoryCluster cluster = served.cluster();
    private final NodeAgent agent = NodeAgent.builder(served.client())
            .node(NODE)
            .facts(new FixedHost())
            .withoutServer()
            .build();
    private PageServer page;
    private Browser browser;
    private BrowserTab tab;

    @BeforeEach
    void start(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed");
        // if ten seconds have passed since the agent began when the server is away
        leaks.allowWarnings("could not be renewed in 5 tries");
        cluster.create(Secrets.of("shop", "db", NoLeaks.CANARY));
        cluster.create(Pods.withVolume(Pods.assigned(NODE, "web"), "db").build());
        page = PageServer.start(agent.view(), 0);
        agent.start();
        browser = Browser.start();
        tab = browser.tab();
        tab.size(1280, 900);
        tab.load(page.url());
    }

    @AfterEach
    void close() {
        NoLeaks.saw(tab.evaluate("document.documentElement.outerHTML").asText());
        NoLeaks.saw(
                tab.evaluate("fetch('ui/state').then(answer => answer.text())").asText());
        tab.close();
        browser.close();
        page.close();
        agent.close();
        served.close();
    }

    private void untilShown(String table, String... texts) {
        for (String text : texts) {
            tab.until("document.getElementById('" + table + "').innerText.includes('" + text + "')");
        }
    }

    @Test
    void page_whileTheClusterChanges_followsIt() {
        tab.until("document.getElementById('ready').innerText === 'Ready'");
        untilShown("lease-note", "since the Lease was renewed");
        untilShown("report-note", "Status reported");
        untilShown("entries", "shop/db", "Fresh", "web");
        untilShown("pods", "shop/web", "Running");

        Secret db = cluster.get(Secret.class, "shop", "db");
        db.getMetadata().setLabels(Map.of("changed", "true"));
        String version = cluster.update(db).getMetadata().getResourceVersion();
        untilShown("entries", version);

        Pod late = cluster.create(
                Pods.withVolume(Pods.assigned(NODE, "early"), "late").build());
        untilShown("pods", "early", "ContainerCreating; Secret late does not exist");
        untilShown("entries", "shop/late", "Absent");
        cluster.create(Secrets.of("shop", "late", NoLeaks.CANARY));
        tab.until("!document.getElementById('entries').innerText.includes('Absent')");

        cluster.delete(late);
        tab.until("!document.getElementById('pods').innerText.includes('early')");
        tab.until("!document.getElementById('entries').innerText.includes('shop/late')");
        assertThat(tab.problems()).isEmpty();
        assertThat(tab.requests()).allSatisfy(url -> assertThat(url).startsWith(page.url()));
    }

    @Test
    void page_apiServerFails_saysWhatIsStaleAndRecovers() {
        untilShown("entries", "shop/db", "Fresh");

        try (Faults.Switched failure = served.server().faults().refuse(RequestPattern.any())) {
            served.server().faults().resetWatches(RequestPattern.any());
            untilShown("entries", "shop/db", "Stale");
            tab.until("document.querySelector('#entries .failure').innerText !== ''");
            assertThat(failure).isNotNull();
            tab.until("document.getElementById('h-attention').innerText.startsWith('API server unreachable for ')");
            tab.screenshot("api-server-fails");
        }

        untilShown("entries", "Fresh");
        tab.until("!document.getElementById('h-attention').innerText.includes('unreachable')");
        tab.until("document.querySelector('#entries .failure').hidden");
        assertThat(tab.problems()).isEmpty();
    }
}
