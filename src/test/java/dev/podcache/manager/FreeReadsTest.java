package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A read without an owner, in the midst of which an owner with a subject comes and goes: it never may see the object. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class FreeReadsTest {

    private final Referrer web = owner("a", WEB);
    private OnBehalfFixture fixture;

    /** Has the owner come before the read looks for the object, and go before its result is handed out. */
    private final class BetweenTheChecks extends ForwardingTimekeeper {

        private boolean comes;
        private boolean goes;

        BetweenTheChecks() {
            super(new ManualTimekeeper());
        }

        @Override
        public long nanoTime() {
            if (comes) {
                comes = false;
                fixture.register(web, TLS);
                goes = true;
            }
            return super.nanoTime();
        }

        @Override
        public Executor blocking() {
            return result -> {
                if (goes) {
                    goes = false;
                    fixture.managers.unregister(web);
                }
                result.run();
            };
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"WATCH", "CACHE"})
    void ownerWithASubjectComesAndGoesMeanwhile_isNotRegistered(ChangeDetectionStrategy strategy) {
        BetweenTheChecks time = new BetweenTheChecks();
        fixture = new OnBehalfFixture(time, strategy);
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.create(TLS, "v1");
        time.comes = true;

        CompletableFuture<Secret> read = fixture.secrets.getObjectAsync("shop", "tls");

        assertThat(time.comes || time.goes)
                .as("the owner has still to come or to go")
                .isFalse();
        assertThatThrownBy(read::join).hasCauseInstanceOf(NotRegistered.class);
        fixture.cached.close();
    }
}
