package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TlsAnswersTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final AtomicInteger cuts = new AtomicInteger();

    /** Answers by itself, as often as what it reads says, and sends what was written when it is flushed. */
    private static final class FakeTls extends ChannelDuplexHandler {

        private final List<Object> data = new ArrayList<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof Integer updates) {
                for (int i = 0; i < updates; i++) {
                    context.write("answer");
                }
            }
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            data.add(message);
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            data.forEach(part -> context.write(part));
            data.clear();
            context.flush();
        }
    }

    @BeforeEach
    void begin() {
        channel.pipeline().addLast("tls", new FakeTls());
        TlsAnswers.limit(channel.pipeline(), () -> {
            cuts.incrementAndGet();
            channel.close();
        });
    }

    @AfterEach
    void close() {
        channel.close();
    }

    @Test
    void answers_mostOfThemWait_nextOneEndsTheConnection() {
        for (int i = 0; i < TlsAnswers.MOST; i++) {
            channel.writeInbound(1);
        }
        assertThat(cuts).hasValue(0);

        channel.writeInbound(1);

        assertThat(cuts).hasValue(1);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void answers_thousandsOfOneRead_endTheConnectionOnce() {
        channel.writeInbound(3000);

        assertThat(cuts).hasValue(1);
        assertThat(channel.outboundMessages()).isEmpty();
    }

    @Test
    void answers_thatAreTaken_makeRoomForOthers() {
        for (int i = 0; i < 100; i++) {
            channel.writeInbound(TlsAnswers.MOST);
            channel.flush();
        }

        assertThat(cuts).hasValue(0);
        assertThat(channel.outboundMessages()).hasSize(100 * TlsAnswers.MOST);
    }

    @Test
    void data_ofAnyAmount_doesNotCount() {
        channel.writeInbound(TlsAnswers.MOST);
        for (int i = 0; i < 100; i++) {
            channel.write("data");
        }
        channel.flush();
        channel.writeInbound(TlsAnswers.MOST);

        assertThat(cuts).hasValue(0);
        assertThat(channel.outboundMessages()).hasSize(TlsAnswers.MOST + 100);
    }
}
