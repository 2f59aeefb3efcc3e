package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ObjectMonitorTest {

    private static final ObjectId SECRET = new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db"));

    private final List<String> reported = new ArrayList<>();
    private final ObjectMonitor monitor = new ObjectMonitor(change -> {
        ProgramEvent event = change.event("", ImmutableMap.of());
        reported.add(event.name() + " " + event.text());
    });

    @Test
    void observed_objectForTheFirstTime_isNotReported() {
        saw(found("4"));

        assertThat(reported).isEmpty();
    }

    @Test
    void observed_anotherVersion_isReported() {
        saw(found("4"), found("4"), found("7"));

        assertThat(reported).containsExactly("changed Secret shop/db: resourceVersion 4 -> 7");
    }

    @Test
    void observed_olderVersionOfALateReader_isNotReported() {
        saw(found("7"), found("4"), found("7"));

        assertThat(reported).isEmpty();
    }

    @Test
    void observed_deletedAndCreatedAgain_isReportedTwice() {
        saw(found("4"), new Observation("missing", "none"), new Observation("missing", "none"), found("9"));

        assertThat(reported)
                .containsExactly("missing Secret shop/db: does not exist", "back Secret shop/db: resourceVersion 9");
    }

    @Test
    void observed_missingFromTheBeginning_isReported() {
        saw(new Observation("missing", "none"));

        assertThat(reported).containsExactly("missing Secret shop/db: does not exist");
    }

    @Test
    void observed_failingAndRecovering_isReported() {
        saw(new Observation("failing", "FORBIDDEN"), new Observation("failing", "FORBIDDEN"), found("4"));

        assertThat(reported)
                .containsExactly(
                        "failing Secret shop/db: cannot be read, FORBIDDEN", "back Secret shop/db: resourceVersion 4");
    }

    @Test
    void observed_sameNameOfAnotherKind_isAnotherObject() {
        monitor.observed(SECRET, found("4"));
        monitor.observed(new ObjectId(ObjectKind.CONFIG_MAP, SECRET.key()), found("7"));

        assertThat(reported).isEmpty();
    }

    @Test
    void retain_otherObjects_areForgotten() {
        saw(found("4"));

        monitor.retain(Set.of());
        saw(found("7"));

        assertThat(reported).isEmpty();
    }

    private static Observation found(String version) {
        return new Observation("changed", version);
    }

    private void saw(Observation... outcomes) {
        for (Observation outcome : outcomes) {
            monitor.observed(SECRET, outcome);
        }
    }
}
