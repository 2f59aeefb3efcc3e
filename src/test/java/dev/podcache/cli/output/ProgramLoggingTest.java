package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

class ProgramLoggingTest {

    private final LoggerContext context = new LoggerContext();

    @ParameterizedTest
    @EnumSource(Level.class)
    void setUp_anyLevel_logsThatOfPodcacheAndNothingThatQuotesAnswers(Level level) {
        ProgramLogging.setUp(context, level);

        assertThat(context.getLogger("dev.podcache.store.Store").getEffectiveLevel())
                .hasToString(level.name());
        assertThat(context.getLogger("io.vertx.core.net.impl.ConnectionBase").isErrorEnabled())
                .isFalse();
        assertThat(context.getLogger("io.vertx.core.http.impl.HttpClientRequestImpl")
                        .isErrorEnabled())
                .isFalse();
        assertThat(context.getLogger("io.vertx.core.Vertx").isErrorEnabled()).isTrue();
    }
}
