package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LatestVersionTest {

    private final LatestVersion versions = new LatestVersion();

    @Test
    void share_sameVersionAgain_isTheTextOfTheCallBefore() {
        String first = new String("7001");
        assertThat(versions.share(first)).isSameAs(first);
        assertThat(versions.share(new String("7001"))).isSameAs(first);
    }

    @Test
    void share_anotherVersion_isThatText() {
        versions.share("7001");
        String other = new String("7002");
        assertThat(versions.share(other)).isSameAs(other);
    }
}
