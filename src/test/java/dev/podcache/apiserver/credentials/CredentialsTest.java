package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class CredentialsTest {

    /** Refuses the first task that is urgent, as a machine that has no thread left does. */
    private static final class NoThreadAtFirst extends ForwardingTimekeeper {

        private final AtomicInteger tasks = new AtomicInteger();

        NoThreadAtFirst() {
            super(new ManualTimekeeper());
        }

        @Override
        public Executor urgent() {
            return task -> {
                if (tasks.getAndIncrement() == 0) {
                    throw new RejectedExecutionException("no thread");
                }
                task.run();
            };
        }
    }

    @Test
    void current_noThreadForTheFirstRead_laterRequestsReadAgain() {
        Config config = new ConfigBuilder(Config.empty()).withOauthToken("abc").build();
        Credentials credentials = new Credentials(
                config,
                config.getRequestConfig(),
                ServerUrl.parse("https://127.0.0.1:6443").orElseThrow(),
                new NoThreadAtFirst(),
                (connection, path, form) -> new byte[0]);

        assertThatThrownBy(credentials::current).isInstanceOf(RejectedExecutionException.class);

        assertThat(credentials.current()).succeedsWithin(Duration.ofSeconds(Patience.SECONDS));
    }
}
