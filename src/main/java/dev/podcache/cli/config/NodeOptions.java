package dev.podcache.cli.config;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of the commands that work with a node of a cluster. */
public final class NodeOptions {

    private static final Logger log = LoggerFactory.getLogger(NodeOptions.class);

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Mixin
    private NodeName node = new NodeName();

    @Mixin
    private KubeletFlags flags = new KubeletFlags();

    /** Returns the configuration to reach the cluster. */
    public Config cluster(Console console) {
        return node.cluster(console);
    }

    /** Returns the credentials of the node, which may have to be requested. */
    public NodeCredentials credentials(CertificateFlags certificates, AgentOptions agent, Console console) {
        Path kubeconfig = node.kubeconfig();
        if (certificates.bootstrap() != null && kubeconfig == null) {
            throw new ParameterException(
                    commandLine(), "--bootstrap-kubeconfig needs --kubeconfig: the file to write with the certificate");
        }
        boolean rotates = checked(() -> KubeletSettings.rotatesCertificates(
                flags.settings(agent.strategy).orElse(file().settings())));
        return new NodeCredentials(
                new NodeCredentials.CredentialFiles(kubeconfig, certificates.bootstrap(), certificates.directory()),
                node.name(console),
                rotates,
                console);
    }

    /** Sets the name of the node, as {@code --node} does. The last one counts. */
    public void named(String name) {
        node.named(name);
    }

    /**
     * Returns the name of the node.
     *
     * @throws ParameterException if it is missing or not legal
     */
    public String name(Console console) {
        return node.name(console);
    }

    /**
     * Returns the configuration: flags override the file, and the file overrides the defaults.
     *
     * @param agent has the flag for the strategy
     * @throws ParameterException if a flag is invalid
     * @throws CommandException if the file is invalid
     */
    public KubeletConfiguration configuration(AgentOptions agent) {
        ConfigurationFile file = file();
        KubeletConfiguration configuration =
                checked(() -> KubeletSettings.configuration(file.settings(), flags.settings(agent.strategy)));
        if (!file.ignored().isEmpty()) {
            log.warn(
                    "configuration {}: valid for a kubelet, but without effect here: {}",
                    flags.config() == null ? flags.configDir() : flags.config(),
                    String.join(", ", file.ignored()));
        }
        return configuration;
    }

    /** Returns every setting of {@link #configuration} with its source. */
    ImmutableList<EffectiveSettings.SettingLine> effective(AgentOptions agent) {
        Settings file = file().settings();
        return checked(() -> {
            Settings given = flags.settings(agent.strategy);
            return EffectiveSettings.of(file, given, KubeletSettings.configuration(file, given));
        });
    }

    /** Returns the configuration file with its drop-ins, or {@link ConfigurationFile#NONE}. */
    ConfigurationFile file() {
        Path path = flags.config();
        Path folder = flags.configDir();
        ConfigurationFile file = path == null ? ConfigurationFile.NONE : ConfigurationFile.read(path);
        return folder == null ? file : file.withDropIns(folder);
    }

    private <R> R checked(Supplier<R> settings) {
        try {
            return settings.get();
        } catch (IllegalSettingException illegal) {
            throw illegal.ofFlag()
                    ? new ParameterException(commandLine(), String.valueOf(illegal.getMessage()), illegal)
                    : new CommandException(String.valueOf(illegal.getMessage()), illegal);
        }
    }

    private CommandLine commandLine() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return spec.commandLine();
    }
}
