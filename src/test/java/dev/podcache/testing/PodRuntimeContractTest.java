package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.FaultyRuntime.Breach;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** Each row of the contract for runtimes fails for a runtime that is broken in that way. */
class PodRuntimeContractTest {

    private static final String BREACHES = """
            TELLS_NOTHING                      | container_endsByItself_isToldAndThenInTheStatus container_isStartedAgain_hasAnotherId
            KEEPS_THE_ID                       | container_isStartedAgain_hasAnotherId
            MAKES_UP_A_HASH                    | container_isStarted_hashIsGivenBackOrLeftOut
            RESOLVES_THE_IMAGE_AT_RESTART      | agent_isRestarted_containerRunsOnWithItsIdImageAndHash
            FORGETS_THE_HASH_AT_RESTART        | agent_isRestarted_containerRunsOnWithItsIdImageAndHash
            ENDS_CONTAINERS_AT_RESTART         | agent_isRestarted_containerRunsOnWithItsIdImageAndHash
            RUNS_AFTER_AN_INTERRUPT            | start_isInterrupted_nothingRunsIfItThrows
            GRANTS_NO_GRACE                    | stop_containerEndsWithinItsGrace_itIsLeftThatTime
            GRANTS_ANY_TIME                    | stop_containerNeedsLonger_itIsEndedAfterTheGrace
            STOPS_ALL_PODS                     | pod_runsIsStoppedAndForgotten
            KEEPS_A_FORGOTTEN_STATUS           | pod_isForgotten_nothingIsLeftOfItsState pod_runsIsStoppedAndForgotten
            KEEPS_A_FORGOTTEN_HASH             | pod_isForgotten_nothingIsLeftOfItsState
            REMOVES_VOLUMES_THAT_ARE_NOT_NAMED | mount_volumeIsNotInTheMap_keepsItsFiles
            KEEPS_FILES_THAT_ARE_GONE          | mount_volumeIsNotInTheMap_keepsItsFiles
            NEVER_ENDS_A_COMMAND               | exec_commandEnds_itsCodeAndTheEndOfItsOutputsCome
            KEEPS_AN_OUTPUT_OPEN               | exec_commandEnds_itsCodeAndTheEndOfItsOutputsCome
            IGNORES_THE_END_OF_A_SESSION       | exec_isClosed_commandEnds
            LEAVES_COMMANDS_TO_THEMSELVES      | exec_containerEnds_commandEndsWithIt_andNoOtherStarts
            """;

    /** Of the runtime in {@link Faulty}; a test class has no parameters. */
    private static volatile Breach breach = Breach.NONE;

    private static Events run(Breach broken, DiscoverySelector... tests) {
        breach = broken;
        return EngineTestKit.engine("junit-jupiter").selectors(tests).execute().testEvents();
    }

    @Test
    void contract_ofARuntimeThatKeepsIt_passesWithoutASkippedRow() {
        Events events = run(Breach.NONE, selectClass(Faulty.class));

        assertThat(events.succeeded().count())
                .isEqualTo(events.started().count())
                .isGreaterThan(14);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = BREACHES)
    void contract_ofABrokenRuntime_failsInItsRow(Breach broken, String rows) {
        for (String row : Splitter.on(' ').split(rows)) {
            assertThat(run(broken, selectMethod(Faulty.class, row)).failed().count())
                    .as(row)
                    .isOne();
        }
    }

    @Test
    void breaches_areAllTried() {
        Set<String> tried = BREACHES.lines()
                .map(line -> line.substring(0, line.indexOf('|')).strip())
                .collect(Collectors.toSet());

        assertThat(Arrays.stream(Breach.values()).filter(each -> each != Breach.NONE))
                .extracting(Breach::name)
                .containsExactlyInAnyOrderElementsOf(tried);
    }

    static final class Faulty extends PodRuntimeContract {

        private @Nullable FaultyRuntime runtime;

        @Override
        protected PodRuntime runtime() {
            FaultyRuntime made = new FaultyRuntime(new FaultyRuntime.Disk(), breach, false);
            runtime = made;
            return made;
        }

        @Override
        protected PodRuntime afterRestart(PodRuntime before) {
            return ((FaultyRuntime) before).afterRestart();
        }

        @Override
        protected Launch launch(boolean ends) {
            return launch(ends ? FaultyRuntime.ENDS : FaultyRuntime.RUNS, Duration.ZERO);
        }

        private static Launch launch(String does, Duration lingers) {
            List<String> command =
                    List.of(does, Long.toString(FaultyRuntime.scaled(lingers).toMillis()));
            return new Launch(command, List.of(), "", Map.of(), List.of(), List.of(), 0);
        }

        @Override
        protected Optional<Launch> lingering(Duration toEnd) {
            return Optional.of(launch(FaultyRuntime.RUNS, toEnd));
        }

        @Override
        protected @Nullable String file(Pod pod, String volume, String path) {
            return Objects.requireNonNull(runtime).file(PodReferences.key(pod), volume, path);
        }

        @Override
        protected List<String> shell(String script) {
            return List.of(script);
        }

        /** What does not happen is awaited in vain. */
        @Override
        protected Duration patience() {
            return breach == Breach.NONE ? super.patience() : Duration.ofSeconds(1);
        }
    }
}
