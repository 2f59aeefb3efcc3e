/**
 * The program's output: {@link dev.podcache.cli.output.EventWriter} writes each {@link
 * dev.podcache.cli.output.ProgramEvent} to standard output, {@link dev.podcache.cli.output.Console} is the process that
 * a command runs in, and logs go to standard error. Start reading at {@code EventWriter}.
 *
 * <p>Locks: {@code EventWriter} guards the lines that wait to be printed. It takes no other lock and prints without it.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.output;

import org.jspecify.annotations.NullMarked;
