package dev.podcache.cli.observe;

import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.kubelet.server.PageServer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option of the commands that serve the page of a node. */
public final class PageOptions {

    private static final int MOST_PORT = 65_535;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    private @Nullable Integer port;

    @Option(
            names = "--ui-port",
            paramLabel = "PORT",
            description =
                    "serve a page for the browsers of this machine at http://127.0.0.1:PORT/ui; 0 for a free port;"
                            + " by default there is none")
    void port(int value) {
        if (spec != null && (value < 0 || value > MOST_PORT)) {
            throw new ParameterException(spec.commandLine(), "--ui-port must be between 0 and 65535, but is " + value);
        }
        port = value;
    }

    /** Returns whether a page is wanted. */
    public boolean isWanted() {
        return port != null;
    }

    /**
     * Runs the work of a command. Serves the page meanwhile, and reports its URL, if it is wanted.
     *
     * @throws CommandException if the port cannot be used; the work has not begun then
     */
    public void serveDuring(Runnable work, NodeView view, EventWriter events) {
        if (port == null) {
            work.run();
            return;
        }
        try (PageServer page = started(view, port)) {
            events.write(ProgramEvent.of("page", "url", page.url()));
            work.run();
        }
    }

    private static PageServer started(NodeView view, int port) {
        try {
            return PageServer.start(view, port);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException("--ui-port: " + e.getMessage(), e);
        }
    }
}
