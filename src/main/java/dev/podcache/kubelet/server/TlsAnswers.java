package dev.podcache.kubelet.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a client that does not take what TLS answers by itself. By TLS 1.3, a client may have the keys updated as often as
 * it likes, also while it reads nothing. Each answer is small, but a buffer of its own, which belongs to no request, and which
 * no other limit counts. What is sent for requests does not count here, however much of it waits. Used by the event loop only.
 */
final class TlsAnswers extends ChannelOutboundHandlerAdapter {

    /** As a server in Go, such as a kubelet, takes in a row. An honest client updates its keys once in millions of records. */
    static final int MOST = 16;

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private final Runnable cut;
    private int waiting; // answers that the network has not taken
    private boolean sendsData; // TLS was told to send what was written for requests

    private TlsAnswers(Runnable cut) {
        this.cut = cut;
    }

    /**
     * Limits the answers of a connection from now on. Its handshake must have ended, whose messages would count.
     *
     * @param pipeline has TLS by the name {@code tls}
     * @param cut closes the connection at once
     */
    static void limit(ChannelPipeline pipeline, Runnable cut) {
        TlsAnswers answers = new TlsAnswers(cut);
        pipeline.addBefore("tls", "tls-answers", answers).addAfter("tls", "tls-data", answers.new Data());
    }

    /** TLS sends something. */
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (sendsData) {
            context.write(message, promise);
            return;
        }
        if (waiting == MOST) {
            // not failed: one record may ask for thousands, and TLS would make an exception for each
            ReferenceCountUtil.release(message);
            if (context.channel().isOpen()) {
                log.debug("closing a connection: the client does not take the answers to updates of its keys");
                cut.run();
            }
            return;
        }
        waiting++;
        ChannelPromise taken = promise.unvoid();
        taken.addListener(written -> {
            // those that fail when the connection is closed make no room for others
            if (written.isSuccess()) {
                waiting--;
            }
        });
        context.write(message, taken);
    }

    /** Sees what is sent for requests before TLS does, which encrypts it when it is flushed. */
    private final class Data extends ChannelOutboundHandlerAdapter {

        @Override
        public void flush(ChannelHandlerContext context) {
            boolean before = sendsData; // an answer that was sent may be followed by the next one at once
            sendsData = true;
            try {
                context.flush();
            } finally {
                sendsData = before;
            }
        }
    }
}
