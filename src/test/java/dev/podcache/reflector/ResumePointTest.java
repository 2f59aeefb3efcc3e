package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResumePointTest {

    private final ResumePoint point = new ResumePoint();

    @Test
    void next_atFirst_isAList() {
        assertThat(point.next()).isNull();
    }

    @Test
    void next_listed_isItsVersionUntilMoreIsSeen() {
        point.listed("5");
        assertThat(point.next()).isEqualTo("5");
        assertThat(point.next()).isEqualTo("5");

        point.applied("7", false);
        assertThat(point.next()).isEqualTo("7");
        point.applied("9", true);
        assertThat(point.next()).isEqualTo("9");
    }

    @Test
    void next_eventWithoutAVersion_isTheOneBefore() {
        point.listed("5");
        point.next();

        point.applied("", false);

        assertThat(point.next()).isEqualTo("5");
    }

    @Test
    void next_lost_isAList() {
        point.listed("5");

        point.requireList();

        assertThat(point.next()).isNull();
    }

    @Test
    void next_listWithoutAVersion_isAWatchWithoutOneAndThenAList() {
        point.listed("");

        assertThat(point.next()).isEmpty();
        assertThat(point.next()).isNull();
    }

    @Test
    void next_watchWithoutAVersionBrokeBeforeItsBookmark_isAList() {
        point.listed("");
        point.next();

        point.applied("7", false);

        assertThat(point.next()).isNull();
    }

    @Test
    void next_watchWithoutAVersionBrokeAfterItsBookmark_isWhatWasSeenSince() {
        point.listed("");
        point.next();

        point.applied("9", true);
        point.applied("11", false);

        assertThat(point.next()).isEqualTo("11");
    }
}
