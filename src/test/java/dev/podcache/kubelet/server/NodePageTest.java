package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Browser;
import dev.podcache.testing.BrowserTab;
import dev.podcache.testing.BrowserTest;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in Chromium, with states that are made up. */
@Slow
@BrowserTest
@ExtendWith(NoLeaks.class)
class NodePageTest {

    private static final String HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>";

    /** Of a failed request, which is what some tests are about. */
    private static final String REFUSED = "net::ERR_CONNECTION_REFUSED";

    private static Browser browser;

    private final ShownState shown = new ShownState();
    private PageServer server;
    private BrowserTab tab;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.start();
    }

    @AfterAll
    static void closeBrowser() {
        browser.close();
    }

    @BeforeEach
    void start() throws IOException {
        shown.entry("Secret", "shop", "db-password", "FRESH");
        shown.entry("Secret", "shop", "session-key", "STALE")
                .put("lastFailure", "watch of Secret shop/session-key failed: 403 Forbidden");
        shown.entry("ConfigMap", "billing", "tax-rates", "ABSENT").put("bytes", 0);
        shown.entry("ConfigMap", "shop", "settings", "FRESH");
        shown.pod("shop", "web-0", "Running", "");
        shown.pod("shop", "early-0", "Pending", "CreateContainerConfigError: secret \"late\" not found");
        server = started(0);
        tab = browser.tab();
        tab.size(1280, 900);
        tab.prefers("light");
    }

    @AfterEach
    void close() {
        tab.close();
        server.close();
    }

    private PageServer started(int port) throws IOException {
        return PageServer.start(time -> new NodePage(shown::json), port);
    }

    private void load() {
        tab.load(server.url());
        tab.until("document.body.className === 'connected'");
    }

    private void type(String text) {
        tab.evaluate("q.value = '" + text + "'; q.dispatchEvent(new Event('input'))");
    }

    /** Returns the names of the objects that are shown, in their order. */
    private String names() {
        return tab.evaluate("[...document.querySelectorAll('#entries .name')].map(each => each.textContent).join()")
                .asText();
    }

    private void untilNames(String names) {
        tab.until("[...document.querySelectorAll('#entries .name')].map(each => each.textContent).join() === '" + names
                + "'");
    }

    private void requireNoProblem() {
        assertThat(tab.problems()).isEmpty();
        assertThat(tab.requests()).allSatisfy(url -> assertThat(url).startsWith(server.url()));
    }

    @Test
    void load_showsNodeHeartbeatsObjectsAndPods() {
        load();

        assertThat(tab.evaluate("document.title").asText()).isEqualTo("(!) worker-1 · Podcache");
        assertThat(tab.text("header"))
                .contains("worker-1", "Needs attention", "strategy WATCH", "v1.0.0", "1 h 30 m", "Live");
        assertThat(tab.text("main")).contains("3.2 s", "expires after 40 s", "Status reported 1 m 1 s ago");
        assertThat(names())
                .as("what needs attention comes first")
                .isEqualTo("session-key,tax-rates,db-password,settings");
        assertThat(tab.text("#entries")).contains("Stale", "403 Forbidden", "13 s", "1042", "2.1 KiB", "web-0");
        assertThat(tab.text("#pods")).contains("early-0", "secret \"late\" not found", "Running", "2/2", "1 h 6 m");
        requireNoProblem();
    }

    @Test
    void state_changes_isShownWithoutAnotherLoad() {
        load();
        tab.evaluate("window.loadedOnce = true");

        shown.entry("Secret", "shop", "new", "NOT_SYNCED");
        shown.entries.get(1).put("state", "FRESH").remove("lastFailure");
        shown.pod("shop", "mailer-0", "Running", "");

        untilNames("new,tax-rates,db-password,session-key,settings");
        tab.until("pods.innerText.includes('mailer-0')");
        assertThat(tab.text("#entries")).contains("Not synced").doesNotContain("403");
        assertThat(tab.evaluate("window.loadedOnce").asBoolean()).isTrue();
        requireNoProblem();
    }

    @Test
    void filter_textKindAndState_isKeptInTheUrl() {
        load();

        type("SHOP/");
        untilNames("session-key,db-password,settings");
        tab.evaluate("kind.value = 'Secret'; kind.dispatchEvent(new Event('change'))");
        untilNames("session-key,db-password");
        tab.evaluate("document.querySelector('[data-state=FRESH]').click()");
        untilNames("db-password");
        assertThat(tab.evaluate("location.search").asText()).isEqualTo("?q=SHOP%2F&kind=Secret&state=FRESH");
        assertThat(tab.text("#entries-count")).isEqualTo("1 of 4 objects");

        tab.load(server.url() + "?q=SHOP%2F&kind=Secret&state=FRESH");
        untilNames("db-password");
        assertThat(tab.evaluate("q.value + ' ' + kind.value").asText()).isEqualTo("SHOP/ Secret");
        assertThat(tab.evaluate("document.querySelector('[aria-pressed=true]').dataset.state")
                        .asText())
                .isEqualTo("FRESH");

        type("nothing");
        tab.until("document.getElementById('entries-empty').innerText === 'No object matches the filter.'");
        requireNoProblem();
    }

    @Test
    void sort_byName_isKeptInTheUrl() {
        load();

        tab.evaluate("document.querySelector('th[data-sort=name]').click()");

        untilNames("tax-rates,db-password,session-key,settings");
        assertThat(tab.evaluate("location.search").asText()).isEqualTo("?sort=name");
        requireNoProblem();
    }

    /** No API server accepts such names; messages may contain anything. */
    @Test
    void html_inNamesAndMessages_isText() {
        shown.state.put("node", HOSTILE).put("version", HOSTILE);
        shown.condition(HOSTILE, "True", HOSTILE, HOSTILE);
        shown.entry(HOSTILE, HOSTILE, HOSTILE, "STALE").put("lastFailure", HOSTILE);
        shown.pod(HOSTILE, HOSTILE, HOSTILE, HOSTILE);

        load();

        assertThat(tab.text("h1")).isEqualTo(HOSTILE);
        assertThat(tab.text("#entries")).contains(HOSTILE);
        assertThat(tab.text("#pods")).contains(HOSTILE);
        assertThat(tab.evaluate("document.querySelectorAll('img, main script').length")
                        .asInt())
                .isZero();
        assertThat(tab.evaluate("document.title").asText()).startsWith("(!) <img");
        requireNoProblem();
    }

    @Test
    void manyObjects_someHundredsAreShownAndTheOthersAreFound() {
        for (int i = 0; i < 5000; i++) {
            shown.entry("Secret", "many", "s-" + (10_000 + i), "FRESH");
        }
        load();

        assertThat(tab.evaluate("entries.rows.length").asInt()).isEqualTo(300);
        assertThat(tab.text("#entries-more")).isEqualTo("4,704 more objects are hidden; filter to see them.");
        type("s-14999");
        untilNames("s-14999");
        assertThat(tab.text("#entries-count")).isEqualTo("1 of 5,004 objects");
        requireNoProblem();
    }

    @Test
    void agentStops_pageSaysSinceWhenAndGoesOnWhenItIsBack() throws IOException {
        load();

        server.close();
        tab.until("document.body.className === 'lost'");

        assertThat(tab.text("#banner"))
                .containsPattern("has not answered since \\d\\d:\\d\\d:\\d\\d: it cannot be reached");
        assertThat(tab.text("#connection")).containsPattern("No answer since \\d\\d:\\d\\d:\\d\\d");
        assertThat(tab.evaluate("document.title").asText()).startsWith("(no answer)");
        tab.screenshot("no-answer");

        server = started(URI.create(server.url()).getPort());
        tab.until("document.body.className === 'connected' && banner.hidden");
        assertThat(tab.problems()).allSatisfy(problem -> assertThat(problem).contains(REFUSED));
    }

    @Test
    void agentFails_pageSaysWhatItAnswers(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed; answered 500");
        load();
        server.close();

        server = PageServer.start(
                time -> new NodePage(filter -> {
                    throw new IOException("the disk is full");
                }),
                URI.create(server.url()).getPort());

        tab.until("banner.innerText.includes('it answers 500')");
    }

    /** The five states in which a node must not look well. */
    private enum Broken {
        PODS("2 of 3 pods need attention", "shop/crash-0 (CrashLoopBackOff)") {
            @Override
            void in(ShownState shown) {
                shown.pod("shop", "crash-0", "Running", "CrashLoopBackOff: container main ended with exit code 1");
            }
        },
        REFUSED("1 object is refused (403)", "the rule that is missing stands beside it") {
            @Override
            void in(ShownState shown) {
                well(shown);
                shown.state.put("refused", 1);
                shown.entry("Secret", "shop", "refused", "UNREAD")
                        .put("lastFailure", "LIST Secret shop/refused: 403 Forbidden")
                        .put(
                                "missingRule",
                                "{apiGroups: [\"\"], resources: [secrets], resourceNames: [\"refused\"], verbs: [list, watch]}");
            }
        },
        STALE("1 object may be out of date", "1 object may be out of date") {
            @Override
            void in(ShownState shown) {
                well(shown);
                shown.entry("Secret", "shop", "old", "STALE");
            }
        },
        LATE_LEASE("The Lease was renewed 55 s ago and has expired", "the cluster takes the node for dead") {
            @Override
            void in(ShownState shown) {
                well(shown);
                shown.state.withObject("/heartbeats").put("sinceRenewalSeconds", 55);
            }
        },
        SERVER_AWAY("API server unreachable for 23 s", "The API server has not answered for 23 s") {
            @Override
            void in(ShownState shown) {
                well(shown);
                shown.state.put("unansweredSeconds", 23);
            }
        };

        private final String headline;
        private final String reason;

        Broken(String headline, String reason) {
            this.headline = headline;
            this.reason = reason;
        }

        abstract void in(ShownState shown);

        static void well(ShownState shown) {
            shown.entries.clear();
            shown.entry("Secret", "shop", "db-password", "FRESH");
            shown.state.putArray("pods");
            shown.pod("shop", "web-0", "Running", "");
        }
    }

    @ParameterizedTest
    @EnumSource(Broken.class)
    void brokenNode_saysWhatIsWrongAtAGlance(Broken broken) {
        broken.in(shown);

        load();

        assertThat(tab.text("#h-attention")).startsWith(broken.headline);
        assertThat(tab.text("#problems")).contains(broken.reason);
        assertThat(tab.text("#ready")).isEqualTo("Needs attention");
        assertThat(tab.evaluate("document.title").asText()).startsWith("(!) ");
        assertThat(tab.evaluate("attention.className").asText()).matches("attention (bad|warn)");
        assertThat(tab.evaluate("attention.getBoundingClientRect().bottom < innerHeight")
                        .asBoolean())
                .as("seen without scrolling")
                .isTrue();
        assertThat(tab.evaluate("document.getElementById('ready-big').className")
                        .asText())
                .isEqualTo(broken == Broken.SERVER_AWAY ? "big tone-none" : "big tone-good");
        requireContrast();
        tab.screenshot("broken-" + broken.name().toLowerCase(Locale.ROOT));
        requireNoProblem();
    }

    @Test
    void wellNode_saysSo() {
        Broken.well(shown);

        load();

        assertThat(tab.text("#h-attention")).isEqualTo("All is well: 1 pod, 1 object");
        assertThat(tab.text("#problems")).isEmpty();
        assertThat(tab.text("#ready")).isEqualTo("Ready");
        assertThat(tab.evaluate("document.title").asText()).isEqualTo("worker-1 · Podcache");
        requireContrast();
    }

    /** With the keyboard alone: a problem is a button, and takes the focus to where it is explained. */
    @Test
    void problem_isPressed_leadsToItsRows() {
        Broken.REFUSED.in(shown);
        load();
        tab.evaluate("document.querySelector('#states [data-state=FRESH]').click()");

        tab.evaluate("document.querySelector('#problems button').click()");

        tab.until("document.activeElement.id === 'h-entries'");
        untilNames("refused,db-password");
        assertThat(tab.text("#entries"))
                .contains("Refused", "A Role in shop lacks {apiGroups: [\"\"], resources: [secrets]");
    }

    @Test
    void loadedAgain_chartsGoOn() {
        load();
        tab.until("samples.length >= 2");

        load();

        assertThat(tab.evaluate("samples.length").asInt()).isGreaterThanOrEqualTo(3);
        requireNoProblem();
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void looks_desktopAndPhone_areReadable(String scheme) {
        tab.prefers(scheme);
        load();
        requireContrast();
        tab.screenshot("desktop-" + scheme);

        tab.size(390, 844);
        load();

        assertThat(tab.evaluate("document.documentElement.scrollWidth").asInt())
                .as("no horizontal scrolling")
                .isEqualTo(390);
        requireContrast();
        tab.screenshot("phone-" + scheme);
        requireNoProblem();
    }

    @Test
    void theme_switch_overridesTheSystem() {
        tab.prefers("dark");
        load();
        assertThat(background()).isEqualTo("rgb(14, 17, 22)");

        tab.evaluate("document.getElementById('theme').click()");

        assertThat(background()).isEqualTo("rgb(246, 247, 249)");
        load();
        assertThat(background()).as("after another load").isEqualTo("rgb(246, 247, 249)");
        tab.evaluate("localStorage.clear()");
        requireNoProblem();
    }

    private String background() {
        return tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
                .asText();
    }

    @Test
    void controls_haveNames() {
        load();

        assertThat(tab.evaluate("[...document.querySelectorAll('input, select, button')]"
                                + ".filter(each => !each.getAttribute('aria-label') && !each.innerText.trim()).length")
                        .asInt())
                .isZero();
        assertThat(tab.evaluate("document.querySelectorAll('[aria-live=polite]').length")
                        .asInt())
                .isEqualTo(1);
    }

    @Test
    void noObjectsAndNoHeartbeats_areExplained() {
        shown.entries.clear();
        shown.state.remove("heartbeats");
        shown.state.putArray("pods");
        shown.state.putArray("conditions");
        shown.state.put("known", false);

        load();

        assertThat(tab.text("main"))
                .contains(
                        "This agent only observes",
                        "No pod of this node refers to a Secret or ConfigMap.",
                        "No pods are assigned",
                        "Not registered");
        tab.screenshot("empty");
        requireNoProblem();
    }

    /** By the rule of WCAG AA for small text. */
    private void requireContrast() {
        assertThat(tab.evaluate("""
                (() => {
                  const parts = color => (color.match(/[\\d.]+/g) || []).map(Number);
                  const luminance = color => parts(color).slice(0, 3).map(v => v / 255)
                      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                      .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
                  const ground = e => {
                    const color = getComputedStyle(e).backgroundColor;
                    return parts(color)[3] === 0 && e.parentElement ? ground(e.parentElement) : color;
                  };
                  return [...document.querySelectorAll('body *')]
                      .filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                      .map(e => {
                        const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))].sort((x, y) => y - x);
                        return [(a + .05) / (b + .05), e.textContent];
                      })
                      .filter(([ratio]) => ratio < 4.5).map(each => each.join(' ')).join('; ');
                })()""").asText()).isEmpty();
    }
}
