package dev.podcache.controlplane.planner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The figures that the documents of the profiles, Kubernetes' threads and our own measurements give. */
class PlanTest {

    private static final double EXACT = 1e-6;

    private static TuningProfile profile(String name) {
        return TuningProfile.ALL.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static PlanSettings.Builder thousand(TuningProfile profile) {
        return PlanSettings.builder(1_000).profile(profile);
    }

    private static Plan plan(String profile) {
        return Plan.of(thousand(profile(profile)).build());
    }

    @ParameterizedTest
    @CsvSource({"default,6000", "fast,15000", "medium,3000", "low,1000"})
    void statusUpdates_thousandNodes_areThoseOfTheDocuments(String profile, double updates) {
        assertThat(plan(profile).value(PlanFigure.STATUS_UPDATES)).isEqualTo(updates, within(EXACT));
    }

    @Test
    void statusUpdates_fast_explainsTheThirtyThousand() {
        assertThat(plan("fast").arithmetic(PlanFigure.STATUS_UPDATES))
                .contains("1,000 nodes x 60 s / 4 s", "every 2 seconds", "30,000");
    }

    @ParameterizedTest
    @CsvSource({"default,15,25", "fast,15,25", "medium,20,30", "low,15,25"})
    void statusAttempts_inTheGracePeriod_areThoseOfTheDocuments(String profile, double fewest, double most) {
        assertThat(plan(profile).value(PlanFigure.FEWEST_ATTEMPTS)).isEqualTo(fewest);
        assertThat(plan(profile).value(PlanFigure.MOST_ATTEMPTS)).isEqualTo(most);
    }

    @ParameterizedTest
    @CsvSource({"default,4,5", "fast,1,2", "medium,11,12", "low,28,30"})
    void leaseRenewals_inTheGracePeriod_areWhatNewerKubeletsSend(String profile, double fewest, double most) {
        assertThat(plan(profile).value(PlanFigure.FEWEST_RENEWALS)).isEqualTo(fewest);
        assertThat(plan(profile).value(PlanFigure.MOST_RENEWALS)).isEqualTo(most);
    }

    @ParameterizedTest
    @CsvSource({"default,350", "fast,50", "medium,180", "low,360"})
    void eviction_asTheDocumentsCount_isGraceAndToleration(String profile, double seconds) {
        assertThat(plan(profile).value(PlanFigure.DOCUMENTED_EVICTION)).isEqualTo(seconds);
    }

    @ParameterizedTest
    @CsvSource({"50,1,39.6,60,65.1,365.1", "40,1,29.6,50,55.1,355.1", "40,4,29.6,50,85.1,385.1"})
    void detection_defaults_isWithinTheFormulaeOfTheMonitor(
            int grace, int failing, double best, double worst, double tainted, double evicted) {
        TuningProfile profile = new TuningProfile(
                "own", Duration.ofSeconds(10), Duration.ofSeconds(5), Duration.ofSeconds(grace), Duration.ofMinutes(5));

        Plan plan = Plan.of(thousand(profile).failingNodes(failing).build());

        assertThat(plan.value(PlanFigure.BEST_DETECTION)).isEqualTo(best, within(EXACT));
        assertThat(plan.value(PlanFigure.WORST_DETECTION)).isEqualTo(worst, within(EXACT));
        assertThat(plan.value(PlanFigure.WORST_TAINT)).isEqualTo(tainted, within(EXACT));
        assertThat(plan.value(PlanFigure.WORST_EVICTION)).isEqualTo(evicted, within(EXACT));
    }

    @ParameterizedTest
    @CsvSource({"100,54,0.1", "100,55,0.01", "100,99,0.01", "51,29,0.01", "4,2,0.1"})
    void eviction_partOfAZoneFails_hasTheRateOfTheController(int nodes, int failing, double rate) {
        Plan plan = Plan.of(PlanSettings.builder(nodes).failingNodes(failing).build());

        assertThat(plan.value(PlanFigure.WORST_TAINT))
                .isEqualTo(plan.value(PlanFigure.WORST_DETECTION) + 5.1 + (failing - 1) / rate, within(EXACT));
        assertThat(plan.warnings()).hasSize(rate < 0.1 ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "100,100", "50,28", "4,3"})
    void eviction_zoneIsDisrupted_neverComes(int nodes, int failing) {
        Plan plan = Plan.of(PlanSettings.builder(nodes).failingNodes(failing).build());

        assertThat(plan.value(PlanFigure.BEST_EVICTION)).isInfinite();
        assertThat(plan.value(PlanFigure.WORST_EVICTION)).isInfinite();
        assertThat(plan.arithmetic(PlanFigure.WORST_TAINT)).startsWith("never: while");
        assertThat(plan.value(PlanFigure.WORST_DETECTION)).isEqualTo(60);
        assertThat(plan.warnings()).singleElement().asString().contains("no pod is evicted until more nodes are Ready");
    }

    @Test
    void etcdShare_changesOfObjects_areWritesToo() {
        Plan unchanged =
                Plan.of(thousand(TuningProfile.DEFAULT).changesPerHour(0).build());
        Plan changing =
                Plan.of(thousand(TuningProfile.DEFAULT).changesPerHour(60).build());

        // 60,000 objects, one change a minute each
        assertThat(changing.value(PlanFigure.ETCD_SHARE) - unchanged.value(PlanFigure.ETCD_SHARE))
                .isEqualTo(1_000.0 * 100 / PlanConstants.ETCD_WRITES, within(EXACT));
    }

    @ParameterizedTest
    @CsvSource({"5000,500", "15000,1500", "100000,10000"})
    void leaseRequests_areATenthOfTheNodes_lessTheJitter(int nodes, double nominal) {
        double lease = Plan.of(PlanSettings.builder(nodes).build()).value(PlanFigure.LEASE_REQUESTS);

        assertThat(lease).isEqualTo(nominal / 1.02, within(EXACT));
    }

    @ParameterizedTest
    @CsvSource({"default,306", "fast,301.92", "medium,306", "low,306"})
    void statusReports_unchanged_comeAtTheFirstUpdateAfterFiveMinutes(String profile, double interval) {
        assertThat(plan(profile).value(PlanFigure.STATUS_REQUESTS)).isEqualTo(1_000 / interval, within(EXACT));
    }

    @Test
    void statusReports_asOftenAsUpdates_areThoseOfOlderKubelets() {
        Plan plan = Plan.of(
                thousand(TuningProfile.FAST).statusReport(Duration.ofSeconds(4)).build());

        assertThat(plan.value(PlanFigure.STATUS_REPORTS)).isEqualTo(15_000 / 1.02, within(EXACT));
    }

    @Test
    void etcdHistory_ofLeasesAlone_isThatOfTheMeasuredCluster() {
        Plan plan = Plan.of(PlanSettings.builder(25_000).podsPerNode(0).build());
        double leases = plan.value(PlanFigure.LEASE_REQUESTS) * PlanConstants.LEASE_HISTORY_BYTES;

        // 290 MB in five minutes by 1,114 renewals per second
        assertThat(leases * 300 * 1_114 / plan.value(PlanFigure.LEASE_REQUESTS))
                .isCloseTo(290e6, Percentage.withPercentage(1));
        assertThat(plan.value(PlanFigure.ETCD_BYTES)).isGreaterThan(leases);
    }

    @Test
    void serverMemory_150000WatchesOfObjects_is7To15GiB() {
        Plan plan = Plan.of(
                PlanSettings.builder(5_000).podsPerNode(30).objectsPerPod(1, 0).build());

        assertThat(plan.value(PlanFigure.WATCHES)).isEqualTo(5_000 * (30 + 3));
        assertThat(plan.value(PlanFigure.SERVER_MEMORY_LOW) / (1 << 30)).isBetween(7.0, 8.0);
        assertThat(plan.value(PlanFigure.SERVER_MEMORY_HIGH) / (1 << 30)).isBetween(14.0, 16.0);
    }

    @Test
    void sharedWrite_fiveThousandWatchers_takes250Milliseconds() {
        assertThat(Plan.of(PlanSettings.builder(5_000).build()).value(PlanFigure.SHARED_WRITE))
                .isEqualTo(250);
    }

    @ParameterizedTest
    @CsvSource({"597,250,3", "597,100,7", "4997,250,21", "4997,100,51", "0,100,1"})
    void watchConnections_areThoseMeasured(int objects, int limit, double connections) {
        Plan plan = Plan.of(PlanSettings.builder(1)
                .podsPerNode(1)
                .objectsPerPod(objects, 0)
                .streamLimit(limit)
                .build());

        assertThat(plan.value(PlanFigure.WATCH_CONNECTIONS)).isEqualTo(connections);
        assertThat(plan.value(PlanFigure.NODE_CONNECTIONS)).isEqualTo(connections + 2);
    }

    @ParameterizedTest
    @CsvSource({"100,0", "101,15", "500,15", "501,30", "1001,60", "2001,300", "15000,300"})
    void ttl_isThatOfTheTtlController(int nodes, double seconds) {
        assertThat(Plan.of(PlanSettings.builder(nodes).build()).value(PlanFigure.CACHE_TTL))
                .isEqualTo(seconds);
    }

    @ParameterizedTest
    @CsvSource({"WATCH,1000,0", "GET,1000,75", "CACHE,1000,75", "CACHE,5000,337.5"})
    void gets_followSyncsAndTtl(ChangeDetectionStrategy strategy, int nodes, double interval) {
        Plan plan = Plan.of(PlanSettings.builder(nodes)
                .strategy(strategy)
                .podsPerNode(10)
                .objectsPerPod(1, 1)
                .podLifetime(Duration.ofDays(365_000))
                .build());

        assertThat(plan.value(PlanFigure.GET_REQUESTS))
                .isEqualTo(interval == 0 ? 0 : nodes * 20 / interval, within(0.01));
    }

    @Test
    void total_isTheSumOfAllKinds() {
        Plan plan = plan("default");

        assertThat(plan.value(PlanFigure.ALL_REQUESTS))
                .isEqualTo(
                        plan.value(PlanFigure.LEASE_REQUESTS)
                                + plan.value(PlanFigure.STATUS_REQUESTS)
                                + plan.value(PlanFigure.POD_STATUS_REQUESTS)
                                + plan.value(PlanFigure.WATCH_REQUESTS)
                                + plan.value(PlanFigure.GET_REQUESTS)
                                + plan.value(PlanFigure.EVENT_REQUESTS),
                        within(EXACT));
    }

    @Test
    void warnings_fastWithTheDefaultLease_sayThatOneLostRenewalIsEnough() {
        assertThat(plan("default").warnings()).isEmpty();
        assertThat(plan("fast").warnings()).singleElement().asString().contains("one lost Lease renewal", "below 40 s");
        assertThat(Plan.of(thousand(TuningProfile.FAST)
                                .leaseDuration(Duration.ofSeconds(16))
                                .build())
                        .warnings())
                .isEmpty();
    }

    @Test
    void warnings_graceShorterThanARenewal_sayThatHealthyNodesFail() {
        PlanSettings settings = thousand(TuningProfile.FAST)
                .leaseDuration(Duration.ofMinutes(2))
                .build();

        assertThat(Plan.of(settings).warnings()).singleElement().asString().startsWith("healthy nodes become Unknown");
    }

    @Test
    void warnings_moreLeasesThanTheWatchCacheTakes_nameIt() {
        assertThat(Plan.of(PlanSettings.builder(1_000_000).build()).warnings())
                .anySatisfy(warning -> assertThat(warning).contains("watch cache of Leases", "lengthen the Lease"));
    }

    @Test
    void agentMemory_isThatOfTheMeasuredTable() throws IOException {
        String measured = Files.readString(Path.of("docs", "performance.md"));

        assertThat(PlanConstants.WATCHED_OBJECT_BYTES)
                .isCloseTo(bytes(measured, "WATCH"), Percentage.withPercentage(10));
        assertThat(PlanConstants.CACHED_OBJECT_BYTES)
                .isCloseTo(bytes(measured, "CACHE"), Percentage.withPercentage(10));
    }

    /** Returns the heap of each of 600 objects, from the table about 20,000 Secrets. */
    private static int bytes(String measured, String strategy) {
        Matcher row = Pattern.compile(
                        "\\| Podcache, " + strategy + " \\| ([\\d.]+)( \\([\\d.]+ to [\\d.]+\\))? \\| [\\d,]+ \\(")
                .matcher(measured.substring(measured.indexOf("<!-- measured: memory -->")));
        assertThat(row.find()).isTrue();
        return (int) (Double.parseDouble(row.group(1)) * 1e6 / 600);
    }

    @Test
    void settings_outOfRange_areRefusedWithTheRange() {
        assertThatThrownBy(() -> PlanSettings.builder(0)).hasMessageContaining("from 1 to 100000000, but is 0");
        assertThatThrownBy(() -> PlanSettings.builder(1).podsPerNode(-1)).hasMessageContaining("from 0");
        assertThatThrownBy(() -> PlanSettings.builder(1).changesPerHour(Double.NaN))
                .hasMessageContaining("NaN");
        assertThatThrownBy(() -> PlanSettings.builder(2).failingNodes(3).build())
                .hasMessageContaining("at most the 2 nodes, but are 3");
        assertThatThrownBy(() -> thousand(TuningProfile.FAST).leaseDuration(Duration.ofMillis(1_500)))
                .hasMessageContaining("whole seconds");
        assertThatThrownBy(() -> new TuningProfile(
                        "own", Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(1)))
                .hasMessageContaining("the status update frequency must be positive");
    }
}
