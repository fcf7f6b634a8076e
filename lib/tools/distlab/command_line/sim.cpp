// distlab sim.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

constexpr auto sim_examples = R"(
Examples:
  ./distlab sim -n 8,64 -b 8,1MiB                    every algorithm of all_reduce, on a laptop
  ./distlab sim broadcast -a flat,binomial -n 1000 -t summit
  ./distlab sim -a ring,tree --sweep ranks=2..256,bytes=8..64MiB -t dgx-h100-ndr --plot out.svg
  ./distlab sim -a ring,sharp -n 64 -b 1MiB -t dgx-h100-ndr      sharp: the switches add
  ./distlab sim -a ring -n 4 -b 64KiB --trace ring.json && ./distlab trace ring.json     the messages as a picture
What if?
  ./distlab sim -n 8 -b 1MiB --straggler 3x2.5       everything that rank 3 does takes 2.5 times as long
  ./distlab sim -n 8 -b 1MiB --slow-link 0-1x10      messages between ranks 0 and 1 take 10 times as long
  ./distlab sim -n 8 -b 1MiB --lose 2@100us          rank 2 vanishes; which rank gets which error?
Programs that start their ranks with dist::spawn(n, rank_main), and labs:
  ./distlab sim ./program -n 1024 -t summit          without -n: the number of ranks that the program asks for
  ./distlab sim ./program -- --its-own-option
  ./distlab sim ./program --explore 200              try other message orders until one fails; --seed repeats it
  ./distlab sim 1                                    the demo of lab 1 with your code; --solution: with the solution
Sizes are those of nccl-tests:
  all_reduce, broadcast, reduce                      the tensor
  gather, all_gather                                 the output: the parts of all n ranks
  scatter, reduce_scatter, all_to_all                the input: the parts of all n ranks
All times but "took" are virtual: the times on the machine of the topology. In --sweep, a..b doubles from a to b.
)";

}  // namespace

void add_sim_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "sim", "Run collectives, programs and labs on thousands of virtual ranks",
                  run_simulation);
  command->add_option(
      "what", options->what,
      "a collective (all_reduce is the default; broadcast, barrier, ...), the path of a program, or a lab");
  command->add_option("arguments", options->arguments, "arguments of the program");
  command->add_flag("--solution", options->solution, "for a lab: run the solution");
  command->add_option("-a,--algorithm", options->algorithms, "ring,tree,... (default: all algorithms)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty);
  command->add_option("-n,--ranks", options->ranks, "number of ranks, or several numbers: 4,64,1024")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-b,--bytes", options->bytes, "size, or several sizes: 8,1MiB; see below what it counts")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(a_size);
  command->add_option("--sweep", options->sweep, "ranges of both, by doubling: ranks=2..4096,bytes=8..64MiB");
  command->add_option("-t,--topology", options->topology,
                      "laptop, 10gbe, dgx-a100-hdr, dgx-h100-ndr, summit, or a JSON file");
  command->add_option("--straggler", options->stragglers, "RANKxFACTOR: this rank is slower")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--slow-link", options->slow_links,
                   "RANK-RANKxFACTOR: messages between these ranks take longer")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--lose", options->losses, "RANK@TIME: this rank vanishes at that time (ns, us, ms or s)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--seed", options->seed,
                      "for a program: run another schedule, such as 17 or one that --explore has named");
  command->add_option("--explore", options->explore,
                      "for a program: try this many schedules until one fails; all: every schedule");
  command->add_option("--trace", options->trace, "write the events to this file, for ./distlab trace")
      ->check(a_file);
  command->add_flag("--links", options->links, "name the links that carried the most bytes");
  command->add_option("--plot", options->plot, "draw the times into this SVG file")->check(a_file);
  command->add_option("--json", options->json, "write the results to this file as JSON; -: standard output")
      ->check(a_file_or_stdout);
  const auto others = command->get_options([](const CLI::Option* of) { return of->get_name() != "--help"; });
  auto* headline = command->add_flag(
      "--headline", options->headline,
      "compare ring and tree at 24,576 GPUs, as the course notes do (the ring takes many minutes)");
  for (auto* other : others) headline->excludes(other);
  command->footer(sim_examples);
}

}  // namespace distlab
