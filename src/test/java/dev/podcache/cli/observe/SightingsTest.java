package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.observe.Outcome.Absent;
import dev.podcache.cli.observe.Outcome.Failed;
import dev.podcache.cli.observe.Outcome.Present;
import dev.podcache.cli.output.Event;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SightingsTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private final List<String> told = new ArrayList<>();
    private final Sightings sightings = new Sightings(sighting -> {
        Event event = sighting.event("", ImmutableMap.of());
        told.add(event.name() + " " + event.text());
    });

    @Test
    void saw_objectForTheFirstTime_isNoNews() {
        saw(new Present("4"));

        assertThat(told).isEmpty();
    }

    @Test
    void saw_anotherVersion_isTold() {
        saw(new Present("4"), new Present("4"), new Present("7"));

        assertThat(told).containsExactly("changed Secret shop/db: resourceVersion 4 -> 7");
    }

    @Test
    void saw_olderVersionOfALateReader_isNoNews() {
        saw(new Present("7"), new Present("4"), new Present("7"));

        assertThat(told).isEmpty();
    }

    @Test
    void saw_deletedAndCreatedAgain_isToldTwice() {
        saw(new Present("4"), new Absent(), new Absent(), new Present("9"));

        assertThat(told)
                .containsExactly(
                        "missing Secret shop/db: the API server has none", "back Secret shop/db: resourceVersion 9");
    }

    @Test
    void saw_missingFromTheBeginning_isTold() {
        saw(new Absent());

        assertThat(told).containsExactly("missing Secret shop/db: the API server has none");
    }

    @Test
    void saw_failingAndRecovering_isTold() {
        saw(new Failed("FORBIDDEN"), new Failed("FORBIDDEN"), new Present("4"));

        assertThat(told)
                .containsExactly(
                        "failing Secret shop/db: cannot be read, FORBIDDEN", "back Secret shop/db: resourceVersion 4");
    }

    @Test
    void saw_sameNameOfAnotherKind_isAnotherObject() {
        sightings.saw(ObjectKind.SECRET, DB, new Present("4"));
        sightings.saw(ObjectKind.CONFIG_MAP, DB, new Present("7"));

        assertThat(told).isEmpty();
    }

    @Test
    void retain_objectThatNobodyRefersTo_isForgotten() {
        saw(new Present("4"));

        sightings.retain(ObjectKind.SECRET, Set.of());
        saw(new Present("7"));

        assertThat(told).isEmpty();
    }

    private void saw(Outcome... outcomes) {
        for (Outcome outcome : outcomes) {
            sightings.saw(ObjectKind.SECRET, DB, outcome);
        }
    }
}
