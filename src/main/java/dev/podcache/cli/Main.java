package dev.podcache.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import dev.podcache.cli.access.GrantsCommand;
import dev.podcache.cli.access.RbacCommand;
import dev.podcache.cli.access.RefsCommand;
import dev.podcache.cli.config.AddressLookups;
import dev.podcache.cli.config.ConfigCommand;
import dev.podcache.cli.config.GivenPath;
import dev.podcache.cli.config.GoDuration;
import dev.podcache.cli.controllers.ControllersCommand;
import dev.podcache.cli.demo.DemoCommand;
import dev.podcache.cli.doctor.DoctorCommand;
import dev.podcache.cli.hollow.HollowCommand;
import dev.podcache.cli.observe.DumpCommand;
import dev.podcache.cli.observe.ObserveCommand;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.StandardOutput;
import dev.podcache.cli.output.Versions;
import dev.podcache.cli.plan.PlanCommand;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The program {@code podcache} with the subcommands {@code demo}, {@code run}, {@code observe}, {@code
 * hollow}, {@code controllers}, {@code plan}, {@code refs}, {@code rbac}, {@code grants}, {@code doctor}, {@code dump}, {@code
 * config}, {@code completion} and {@code version}. Exit codes: 0 success, 1 failure, 2 wrong command line, 3 {@code doctor} found a problem,
 * 141 the reader of the output has left.
 */
public final class Main {

    private static final int FAILED = 1;
    private static final int USAGE = 2;
    /** As of a program that SIGPIPE ends, which is what happens to others in such a pipeline. */
    private static final int READER_LEFT = 141;

    private static final String COMPLETION = "completion";
    private static final int HELP_WIDTH = 100;
    private static final long STOP_TIMEOUT_SECONDS = 5;

    private Main() {}

    /**
     * Runs the program and ends the process with its exit code. After a signal too, if the command has ended within 5 s;
     * otherwise with the exit code of the signal.
     */
    public static void main(String[] args) {
        // fabric8 keeps the key in a key store in memory, where an encryption that is slow on purpose protects nothing
        System.setProperty("keystore.pkcs12.keyPbeIterationCount", "1");
        Console console = Console.ofProcess();
        int code = runUntilTerminated(console, Runtime.getRuntime()::halt, HollowRuntime::new, args);
        if (!console.stop().isDone()) {
            // exit would run the hooks of a surrounding process such as Maven, which print after the data
            Runtime.getRuntime().halt(code);
        }
    }

    /**
     * Runs the program with your own runtime, so that {@code run} becomes a node that runs containers. Blocks until the
     * program has ended: by itself, after {@code --for}, or because the process is told to terminate. Does not end the
     * process. Several may run at the same time.
     *
     * @param runtime called when {@code run} starts; the argument provides the time and threads of the agent
     * @return the exit code, for {@link System#exit}
     */
    public static int run(Function<Timekeeper, PodRuntime> runtime, String... args) {
        return runUntilTerminated(Console.ofProcess(), code -> {}, runtime, args);
    }

    /** After a signal, {@code stopped} is called with the exit code, if the command has ended in time. */
    private static int runUntilTerminated(
            Console console, IntConsumer stopped, Function<Timekeeper, PodRuntime> runtime, String... args) {
        AddressLookups.setShortTtl();
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        Thread hook = new Thread(() -> stop(console, ended, stopped), "shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        int code = FAILED;
        try {
            code = execute(console, runtime, args);
            return code;
        } finally {
            console.out().flush();
            ended.complete(code);
            if (!console.stop().isDone()) {
                remove(hook);
            }
        }
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the process ends at this very moment, and the hook has nothing to wait for
        }
    }

    /** Runs the program and returns its exit code. */
    public static int execute(Console console, String... args) {
        return execute(console, HollowRuntime::new, args);
    }

    private static int execute(Console console, Function<Timekeeper, PodRuntime> runtime, String... args) {
        ImmutableMap<String, Supplier<?>> all = subcommands(console, runtime);
        // picocli reads the annotations of every subcommand it gets, which takes a third of a second for all of them
        boolean one = args.length > 0 && all.containsKey(args[0]) && !args[0].equals(COMPLETION);
        ImmutableSet<String> needed = one ? ImmutableSet.of(args[0]) : all.keySet();
        int code = commandLine(console, Maps.filterKeys(all, needed::contains)).execute(args);
        return code == 0 && StandardOutput.lostItsReader(console.out()) ? READER_LEFT : code;
    }

    /** Returns the parser of the program's arguments. */
    static CommandLine commandLine(Console console, Function<Timekeeper, PodRuntime> runtime) {
        return commandLine(console, subcommands(console, runtime));
    }

    private static ImmutableMap<String, Supplier<?>> subcommands(
            Console console, Function<Timekeeper, PodRuntime> runtime) {
        return ImmutableMap.<String, Supplier<?>>builder()
                .put("demo", () -> new DemoCommand(console))
                .put("run", () -> new RunCommand(console, runtime))
                .put("observe", () -> new ObserveCommand(console))
                .put("hollow", () -> new HollowCommand(console))
                .put("controllers", () -> new ControllersCommand(console))
                .put("plan", () -> new PlanCommand(console))
                .put("refs", () -> new RefsCommand(console))
                .put("rbac", () -> new RbacCommand(console))
                .put("grants", () -> new GrantsCommand(console))
                .put("doctor", () -> new DoctorCommand(console))
                .put("dump", () -> new DumpCommand(console))
                .put("config", () -> ConfigCommand.create(console))
                .put(COMPLETION, Main::completion)
                .put("version", () -> new VersionCommand(console))
                .buildOrThrow();
    }

    private static CommandLine completion() {
        CommandLine completion = new CommandLine(new AutoComplete.GenerateCompletion());
        // else its help names it generate-completion
        completion.setCommandName(COMPLETION);
        // else it ignores unknown options
        completion.getCommandSpec().helpCommand(false);
        completion
                .getCommandSpec()
                .usageMessage()
                .header("Prints a completion script for bash and zsh.")
                .description(new String[0])
                .footer("", "Example:", "  source <(podcache completion)");
        return completion;
    }

    private static CommandLine commandLine(Console console, Map<String, Supplier<?>> subcommands) {
        CommandLine line = new CommandLine(new RootCommand());
        subcommands.forEach((name, subcommand) -> line.addSubcommand(name, subcommand.get()));
        setVersion(line);
        line.registerConverter(Duration.class, new GoDuration());
        line.registerConverter(Path.class, new GivenPath());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpWidth(HELP_WIDTH);
        line.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
        line.setParameterExceptionHandler((refused, arguments) -> {
            CommandLine concerned = refused.getCommandLine();
            console.err().println("error: " + messageOf(refused));
            if (refused instanceof UnmatchedArgumentException unmatched) {
                unmatched.printSuggestions(concerned.getErr());
            }
            console.err().println("try: " + concerned.getCommandSpec().qualifiedName() + " --help");
            return USAGE;
        });
        line.setExecutionExceptionHandler((thrown, command, parsed) -> failed(console, thrown, parsed));
        return line;
    }

    /** Makes {@code --version} of every subcommand print the version of the program. */
    private static void setVersion(CommandLine line) {
        line.getCommandSpec().versionProvider(new Versions());
        line.getSubcommands().values().forEach(Main::setVersion);
    }

    private static String messageOf(ParameterException refused) {
        if (refused.getValue() != null
                && refused.getArgSpec() instanceof OptionSpec option
                && option.type().isEnum()) {
            return notAValueOf(option, refused.getValue());
        }
        boolean argument = refused instanceof UnmatchedArgumentException unmatched && !unmatched.isUnknownOption();
        if (!argument) {
            // picocli names the Java type of the option
            return String.valueOf(refused.getMessage())
                    .replaceFirst("is not an int$", "is not a whole number")
                    .replaceFirst("is not a double$", "is not a number");
        }
        String given = Quoted.value(
                ((UnmatchedArgumentException) refused).getUnmatched().get(0));
        return refused.getCommandLine().getSubcommands().isEmpty()
                ? given + " is one argument too many"
                : "there is no command " + given;
    }

    /** Lists the values as the help spells them; picocli lists Java's names. */
    private static String notAValueOf(OptionSpec option, String given) {
        List<String> allowed = ImmutableList.copyOf(option.completionCandidates());
        int last = allowed.size() - 1;
        return option.longestName() + " is " + Quoted.value(given) + ": it must be "
                + String.join(", ", allowed.subList(0, last)) + " or " + allowed.get(last);
    }

    private static int failed(Console console, Exception thrown, ParseResult parsed) {
        if (thrown instanceof CommandException && StandardOutput.lostItsReader(console.out())) {
            return READER_LEFT;
        }
        console.err()
                .println("error: "
                        + (thrown instanceof CommandException
                                ? thrown.getMessage()
                                : "this is a bug, please report it: " + thrown + "; -v prints the stack trace"));
        ParseResult command = parsed;
        while (command.hasSubcommand()) {
            command = command.subcommand();
        }
        if (OutputOptions.wantsStackTraces(command)) {
            thrown.printStackTrace(console.err());
        }
        return FAILED;
    }

    /** Asks the command to end, and waits for it for some seconds. A command that only loads classes is not waited for. */
    private static void stop(Console console, Future<Integer> ended, IntConsumer stopped) {
        console.stop().complete(null);
        if (!console.begun().isDone()) {
            return;
        }
        try {
            stopped.accept(ended.get(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // the process ends with the exit code of the signal
        }
    }
}
