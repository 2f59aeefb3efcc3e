package dev.podcache.cli;

import dev.podcache.cli.config.AddressLookups;
import dev.podcache.cli.config.GoDuration;
import dev.podcache.cli.demo.DemoCommand;
import dev.podcache.cli.observe.ObserveCommand;
import dev.podcache.cli.output.CommandFailure;
import dev.podcache.cli.output.Console;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.time.Timekeeper;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The program {@code podcache}: {@code demo} (what happens without a subcommand), {@code run},
 * {@code observe} and {@code version}. Exit code 0 means that all went well, 1 that something failed, 2
 * that the command line was wrong.
 */
public final class Main {

    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final int HELP_WIDTH = 100;
    private static final long LAST_WORDS_SECONDS = 5;

    private Main() {}

    /** Runs the program and ends the process with its exit code; after a signal, with that of the signal. */
    public static void main(String[] args) {
        run(HollowRuntime::new, args);
    }

    /**
     * The same with a runtime of your own, so that {@code run} is a node that runs containers.
     *
     * @param runtime makes the runtime, with the time and threads of the agent, when {@code run} begins
     */
    public static void run(Function<Timekeeper, PodRuntime> runtime, String... args) {
        AddressLookups.forgetSoon();
        Console console = Console.ofProcess();
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(console, ended), "agent-shutdown"));
        int code = execute(console, runtime, args);
        console.out().flush();
        ended.countDown();
        if (!console.stop().isDone()) {
            // not exit: hooks of the surrounding process, such as Maven's, would print after the data
            Runtime.getRuntime().halt(code);
        }
    }

    /** Runs the program and returns its exit code. */
    public static int execute(Console console, String... args) {
        return execute(console, HollowRuntime::new, args);
    }

    private static int execute(Console console, Function<Timekeeper, PodRuntime> runtime, String... args) {
        return commandLine(console, runtime).execute(args);
    }

    /** Returns the parser of the program's arguments. */
    static CommandLine commandLine(Console console, Function<Timekeeper, PodRuntime> runtime) {
        CommandLine line = new CommandLine(new RootCommand(console))
                .addSubcommand("demo", new DemoCommand(console))
                .addSubcommand("run", new RunCommand(console, runtime))
                .addSubcommand("observe", new ObserveCommand(console))
                .addSubcommand("version", new VersionCommand(console));
        line.registerConverter(Duration.class, new GoDuration());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpWidth(HELP_WIDTH);
        line.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
        line.setParameterExceptionHandler((refused, arguments) -> {
            CommandLine concerned = refused.getCommandLine();
            console.err().println("error: " + refused.getMessage());
            if (refused instanceof UnmatchedArgumentException unmatched) {
                unmatched.printSuggestions(concerned.getErr());
            }
            console.err().println("try: " + concerned.getCommandSpec().qualifiedName() + " --help");
            return USAGE;
        });
        line.setExecutionExceptionHandler((thrown, command, parsed) -> failed(console, thrown, parsed));
        return line;
    }

    private static int failed(Console console, Exception thrown, ParseResult parsed) {
        console.err()
                .println("error: "
                        + (thrown instanceof CommandFailure
                                ? thrown.getMessage()
                                : "unexpected, please report it: " + thrown + "; with -v there is a stack trace"));
        ParseResult command = parsed.hasSubcommand() ? parsed.subcommand() : parsed;
        if (command.hasMatchedOption("--verbose")) {
            thrown.printStackTrace(console.err());
        }
        return FAILED;
    }

    /** Asks the command to end, and gives it a moment for its last words. */
    private static void stop(Console console, CountDownLatch ended) {
        console.stop().complete(null);
        try {
            ended.await(LAST_WORDS_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
