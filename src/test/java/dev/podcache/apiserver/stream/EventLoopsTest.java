package dev.podcache.apiserver.stream;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.NoLeaks;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class EventLoopsTest {

    /** Vert.x would refuse it too, but only half made: Netty logs a stack trace when the garbage collector then closes it. */
    @Test
    void client_afterClose_isRefused() {
        EventLoops loops = new EventLoops(1);
        loops.close();

        assertThatThrownBy(() -> loops.client(new HttpClientOptions(), new PoolOptions()))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("the event loops are closed");
    }
}
