package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HollowPodIpsTest {

    private final HollowPodIps ips = new HollowPodIps();

    private static Pod pod(String uid, @Nullable String ip) {
        return new PodBuilder()
                .withNewMetadata()
                .withUid(uid)
                .endMetadata()
                .withNewStatus()
                .withPodIP(ip)
                .endStatus()
                .build();
    }

    private static Pod pod(String uid) {
        return pod(uid, null);
    }

    @Test
    void of_podsOfAnEarlierProcessExist_skipsTheirAddresses() {
        ips.listed(List.of(pod("a", "10.0.0.1"), pod("b", "10.0.0.3"), pod("c")));

        assertThat(ips.of(pod("c"))).isEqualTo("10.0.0.2");
        assertThat(ips.of(pod("d"))).isEqualTo("10.0.0.4");
    }

    @Test
    void of_endOfTheRangeIsReached_beginsAgainWithAddressesThatAreFree() {
        HollowPodIps late = new HollowPodIps(0x0A7F_FFFE);
        late.listed(List.of(pod("a", "10.0.0.1"), pod("b", "10.0.0.2"), pod("c", "10.0.0.3")));
        late.deleted(pod("b"));

        assertThat(late.of(pod("d"))).isEqualTo("10.127.255.254");
        assertThat(late.of(pod("e"))).isEqualTo("10.0.0.2");
        assertThat(late.of(pod("f"))).isEqualTo("10.0.0.4");
    }

    @Test
    void listed_withoutAPod_freesItsAddress() {
        HollowPodIps late = new HollowPodIps(0x0A7F_FFFE);
        late.listed(List.of(pod("a", "10.0.0.1"), pod("b", "10.0.0.2")));
        assertThat(late.of(pod("c"))).isEqualTo("10.127.255.254");

        // the status of c was not reported yet
        late.listed(List.of(pod("b", "10.0.0.2"), pod("c")));

        assertThat(late.of(pod("d"))).isEqualTo("10.0.0.1");
        assertThat(late.of(pod("e"))).isEqualTo("10.0.0.3");
    }

    @Test
    void listed_podsOfTheHostNetworkShareAnAddress_isNoProblem() {
        ips.listed(List.of(pod("a", "10.128.0.1"), pod("b", "10.128.0.1")));
        ips.deleted(pod("a", "10.128.0.1"));
        ips.deleted(pod("b", "10.128.0.1"));

        assertThat(ips.of(pod("c"))).isEqualTo("10.0.0.1");
    }
}
