package dev.podcache.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.controlplane.planner.PlanSettings;
import dev.podcache.controlplane.planner.TuningProfile;
import dev.podcache.testing.NoLeaks;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PlanCommandTest {

    private static final Offset<Double> ROUNDING = Offset.offset(0.000_501);

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    private List<String> plan(String options) {
        int code = console.execute(("plan " + options).strip().split(" "));

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        return console.out();
    }

    @Test
    void text_noOptions_showsTheFourProfilesSideBySide() {
        List<String> lines = plan("");

        assertThat(lines.get(0).strip().split(" +")).containsExactly("default", "fast", "medium", "low");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).matches(" +every status update.* 6,000 +15,000 +3,000 +1,000"))
                .anySatisfy(line -> assertThat(line).matches(" +grace period and toleration +350 +50 +180 +360"))
                .anySatisfy(line -> assertThat(line).startsWith("warning, fast: one lost Lease renewal"))
                .noneSatisfy(line -> assertThat(line).contains("Simulated"));
        assertThat(lines).hasSizeBetween(PlanFigure.values().length, 70);
    }

    @Test
    void text_explain_showsTheArithmeticOfEveryFigure() {
        List<String> lines = plan("--nodes 1000 --profile fast --explain");

        assertThat(lines.stream().filter(line -> line.contains(" = ")))
                .hasSizeGreaterThanOrEqualTo(PlanFigure.values().length);
        assertThat(String.join("\n", lines)).contains("1,000 nodes x 60 s / 4 s", "would make 30,000");
    }

    @Test
    void json_oneProfile_hasEveryFigureAndSetting() {
        JsonNode json = RecordedOutput.parsed(
                plan("--nodes 1000 --profile fast -o json").get(0));
        Plan plan =
                Plan.of(PlanSettings.builder(1_000).profile(TuningProfile.FAST).build());

        assertThat(console.out()).hasSize(1);
        for (PlanFigure figure : PlanFigure.values()) {
            JsonNode value = json.path(figure.group().key()).path(figure.key());
            assertThat(value.isNumber()).as("%s", figure).isTrue();
            assertThat(value.asDouble()).as("%s", figure).isEqualTo(plan.value(figure), ROUNDING);
        }
        assertThat(json.path("nodes").asInt()).isEqualTo(1_000);
        assertThat(json.path("monitorGraceSeconds").asInt()).isEqualTo(20);
        assertThat(json.path("strategy").asText()).isEqualTo("WATCH");
        assertThat(json.path("warnings")).hasSize(1);
        assertThat(json.has("arithmetic")).isFalse();
    }

    @Test
    void json_all_isOneObjectALine() {
        List<JsonNode> objects =
                plan("-o json --explain").stream().map(RecordedOutput::parsed).toList();

        assertThat(objects)
                .extracting(json -> json.path("profile").asText())
                .containsExactly("default", "fast", "medium", "low");
        assertThat(objects)
                .allSatisfy(json -> assertThat(
                                json.at("/arithmetic/requestsPerSecond/lease").asText())
                        .endsWith("."));
    }

    @Test
    void fieldNames_ofJson_areLowerCamelCase() {
        for (PlanFigure figure : PlanFigure.values()) {
            assertThat(figure.key()).matches("[a-z][A-Za-z0-9]*");
            assertThat(figure.group().key()).matches("[a-z][A-Za-z0-9]*");
        }
    }

    @Test
    void options_ofTheCluster_areUsed() {
        JsonNode json = RecordedOutput.parsed(plan("--nodes 200 --pods-per-node 7 --secrets-per-pod 3"
                        + " --config-maps-per-pod 2 --changes-per-hour 1.5 --pod-lifetime 2h --profile low"
                        + " --node-status-update-frequency 11s --node-status-report-frequency 12s"
                        + " --node-lease-duration 13s --node-monitor-period 14s --node-monitor-grace-period 15s"
                        + " --toleration 16s --failing-nodes 17 --strategy cache --ttl 18s"
                        + " --http2-max-streams-per-connection 19 -o json")
                .get(0));

        assertThat(json.path("podsPerNode").asInt()).isEqualTo(7);
        assertThat(json.path("secretsPerPod").asInt()).isEqualTo(3);
        assertThat(json.path("configMapsPerPod").asInt()).isEqualTo(2);
        assertThat(json.path("changesPerHour").asDouble()).isEqualTo(1.5);
        assertThat(json.path("podLifetimeSeconds").asDouble()).isEqualTo(7_200);
        assertThat(json.path("statusUpdateSeconds").asDouble()).isEqualTo(11);
        assertThat(json.path("statusReportSeconds").asDouble()).isEqualTo(12);
        assertThat(json.path("leaseDurationSeconds").asDouble()).isEqualTo(13);
        assertThat(json.path("monitorPeriodSeconds").asDouble()).isEqualTo(14);
        assertThat(json.path("monitorGraceSeconds").asDouble()).isEqualTo(15);
        assertThat(json.path("tolerationSeconds").asDouble()).isEqualTo(16);
        assertThat(json.path("failingNodes").asInt()).isEqualTo(17);
        assertThat(json.path("strategy").asText()).isEqualTo("CACHE");
        assertThat(json.at("/objects/ttlSeconds").asDouble()).isEqualTo(18);
        assertThat(json.path("streamLimit").asInt()).isEqualTo(19);
    }

    @Test
    void simulate_smallCluster_standsBesideThePlan() {
        List<String> lines = plan("--nodes 40 --profile fast --simulate 30m");

        assertThat(lines)
                .contains("Simulated: requests per second")
                .anySatisfy(line -> assertThat(line).matches(" +nodes that died +10"));
    }

    @Test
    void simulate_json_hasCountsAndTimes() {
        JsonNode json = RecordedOutput.parsed(
                plan("--nodes 40 --profile fast --simulate 30m -o json").get(0));

        assertThat(json.at("/simulated/seconds").asInt()).isEqualTo(1_800);
        assertThat(json.at("/simulated/requestsPerSecond/lease").asDouble())
                .isCloseTo(json.at("/requestsPerSecond/lease").asDouble(), Offset.offset(0.1));
        assertThat(json.at("/simulated/detectionSeconds/count").asInt()).isEqualTo(10);
    }

    @Test
    void simulate_tooShort_isAUsageErrorWithTheLeast() {
        int code = console.execute("plan", "--profile", "low", "--simulate", "5m");

        assertThat(code).isEqualTo(2);
        assertThat(console.out()).isEmpty();
        assertThat(console.err().get(0)).contains("the simulated time must be at least", "for profile low", "300s");
    }

    @Test
    void failingNodes_wholeCluster_areNeverEvicted() {
        assertThat(plan("--nodes 100 --failing-nodes 100 --profile fast"))
                .anySatisfy(line -> assertThat(line).matches(" +worst +never"))
                .anySatisfy(line -> assertThat(line).startsWith("warning, fast: when 100 of 100 nodes fail"));
    }

    @Test
    void failingNodes_wholeCluster_areNullInJson() {
        JsonNode json = RecordedOutput.parsed(
                plan("--nodes 100 --failing-nodes 100 --profile fast -o json").get(0));

        assertThat(json.at("/evictionSeconds/worst").isNull()).isTrue();
        assertThat(json.at("/detectionSeconds/worst").asDouble()).isEqualTo(24);
    }
}
