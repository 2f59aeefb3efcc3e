package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.cli.config.ConfigurationFile;
import dev.podcache.cli.config.KubeletSettings;
import dev.podcache.cli.config.Setting;
import dev.podcache.cli.config.Settings;
import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.kubelet.agent.NodeAgentOptions;
import dev.podcache.kubelet.podsync.PodThreads;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FixedHost;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AgentAccountTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final RecordedAccount lines = RecordedAccount.ofText();
    private final AgentAccount account = new AgentAccount(
            lines.account(),
            new NodeAgentOptions(
                    "worker-1",
                    KubeletSettings.configuration(
                            ConfigurationFile.NONE.settings(), new Settings(new TreeMap<>(Map.<String, Setting>of()))),
                    new FixedHost(),
                    new HollowRuntime(timekeeper),
                    new PodThreads(MoreExecutors.newDirectExecutorService(), MoreExecutors.newDirectExecutorService()),
                    "v1.0.0"));

    @AfterEach
    void tearDown() {
        account.close();
        timekeeper.close();
    }

    private void watched(String secret) {
        account.metrics().watchSynced(ObjectKind.SECRET, ObjectKey.of("shop", secret), Duration.ofMillis(5));
    }

    @Test
    void forgetAllBut_podsThatCameAndWent_leaveNothing() {
        for (int i = 0; i < 500; i++) {
            watched("of-" + i);
        }

        account.forgetAllBut(List.of());

        assertThat(account.remembered()).isZero();
    }

    @Test
    void forgetAllBut_objectThatAPodRefersTo_isKept() {
        watched("a");
        watched("b");

        account.forgetAllBut(List.of(Pods.withSecrets("shop", "web", "u1", "a")));

        assertThat(account.remembered()).isEqualTo(1);
    }
}
