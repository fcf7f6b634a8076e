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
  ./distlab sim -a ring,sharp -n 64 -b 1MiB -t dgx-h100-ndr      sharp: the switches sum
  ./distlab sim -a ring -n 4 -b 64KiB --trace ring.json && ./distlab trace ring.json     the messages as a picture
What if?
  ./distlab sim -n 8 -b 1MiB --straggler 3x2.5       rank 3 is 2.5 times slower in all it does itself
  ./distlab sim -n 8 -b 1MiB --slow-link 0-1x10      messages between ranks 0 and 1 take 10 times as long
  ./distlab sim -n 8 -b 1MiB --lose 2@100us          rank 2 vanishes; who gets which error?
Programs that start their ranks with dist::spawn(n, rank_main), and labs:
  ./distlab sim ./program -n 1024 -t summit          -n left out: as many as it asks for
  ./distlab sim ./program -- --its-own-option
  ./distlab sim ./program --explore 200              other orders of messages, until one goes wrong; --seed repeats it
  ./distlab sim 1                                    lab 1's demo with your code; --solution: with the solution
Sizes are counted as nccl-tests does:
  all_reduce, broadcast, reduce                      the tensor
  gather, all_gather                                 the output: n ranks' shares together
  scatter, reduce_scatter, all_to_all                the input: n ranks' shares together
All times but "took" are virtual: what the machine of the topology would take. In --sweep a..b doubles from a to b.
)";

}  // namespace

void add_sim_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "sim", "Collectives, programs and labs on thousands of virtual ranks", run_simulation);
  command->add_option(
      "what", options->what,
      "a collective (all_reduce when left out, broadcast, barrier, ...), the path of a program, or a lab");
  command->add_option("arguments", options->arguments, "of the program");
  command->add_flag("--solution", options->solution, "of a lab: run the solution");
  command->add_option("-a,--algorithm", options->algorithms, "ring,tree,...; all there are when left out")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty);
  command->add_option("-n,--ranks", options->ranks, "how many ranks, or several: 4,64,1024")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-b,--bytes", options->bytes, "a size, or several: 8,1MiB; what it counts is said below")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(a_size);
  command->add_option("--sweep", options->sweep, "ranges of both: ranks=2..4096,bytes=8..64MiB (doubling)");
  command->add_option("-t,--topology", options->topology,
                      "laptop, 10gbe, dgx-a100-hdr, dgx-h100-ndr, summit, or a JSON file");
  command->add_option("--straggler", options->stragglers, "RANKxFACTOR: that rank is slower")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--slow-link", options->slow_links, "RANK-RANKxFACTOR: messages between them take longer")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--lose", options->losses, "RANK@TIME: that rank vanishes then (ns, us, ms or s)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--seed", options->seed,
                      "of a program: another schedule, as 17, or as --explore names it");
  command->add_option("--explore", options->explore,
                      "of a program: so many schedules, until one goes wrong; all: every one");
  command->add_option("--trace", options->trace, "write the events to this file, for ./distlab trace")
      ->check(a_file);
  command->add_flag("--links", options->links, "name the links that carried most");
  command->add_option("--plot", options->plot, "draw the times into this SVG file")->check(a_file);
  command->add_option("--json", options->json, "write the results to this file, - for standard output")
      ->check(a_file_or_stdout);
  const auto others = command->get_options([](const CLI::Option* of) { return of->get_name() != "--help"; });
  auto* headline = command->add_flag(
      "--headline", options->headline,
      "ring and tree at 24,576 GPUs, as the course notes compare them (the ring takes many minutes)");
  for (auto* other : others) headline->excludes(other);
  command->footer(sim_examples);
}

}  // namespace distlab
