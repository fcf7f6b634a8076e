// distlab train.
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"
#include "distlab/train/ending.h"
#include "distlab/train/flop_meter.h"
#include "distlab/train/models.h"
#include "distlab/train/scheme.h"

namespace distlab {
namespace {

const CLI::Validator a_signal(
    [](const std::string& text) {
      return signal_named(text) != 0 ? "" : text + " is not a signal that can be handled; write USR1 or TERM";
    },
    "SIGNAL");

const CLI::Validator a_peak(
    [](const std::string& text) {
      double flops = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), flops);
      const bool is_number = error == std::errc() && end == text.data() + text.size();
      if (text == matmul_peak || (is_number && std::isfinite(flops) && flops > 0)) return std::string();
      return text + " is neither a number of FLOP/s, as 2e11 is, nor matmul";
    },
    "FLOP/S|matmul");

// The names of schemes or models.
template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

template <class Entries>
std::string help_of(const Entries& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", entry.name, entry.help,
                        text.empty() ? " (default)" : "");
  }
  return text;
}

constexpr auto train_notes = R"(
Examples:
  ./distlab train                                    two ranks, 12,000 generated digits, two epochs
  ./distlab train --nproc 4 --epochs 5 --plot out    out/loss.svg, out/step_times.svg
  ./distlab train --checkpoint run.safetensors --resume          continues from that file, bit for bit
  ./distlab train --scheme ps                        with a parameter server; dp: with threads of one process
  ./distlab train --data mnist --epochs 1            the real digits, once you have their files
  ./distlab train --model gpt --sample "A rank "     a GPT learns the handouts, then writes
  ./distlab train --model gpt --mesh pp=4,dp=2 --simulate summit      how long a step would take there
  ./distlab train --model gpt --steps 0 --checkpoint gpt.safetensors --sample "All "    writes without training
  ./distlab train --model gpt --lora 8 --from gpt.safetensors --data mine.txt     adapts that GPT to a text
  ./distlab train --model gpt --steps 0 --from gpt2.safetensors --export nano.safetensors     converts GPT-2
  DIST_TRACE=trace.json ./distlab train --epochs 1   see what overlaps, in https://ui.perfetto.dev
Under distrun, torchrun, mpirun or srun, each process is one rank, and the launcher sets the number of ranks.
SIGTERM ends a run early: it writes the checkpoint, says so and exits with code 143; --resume continues it.
)";

using Options = std::shared_ptr<TrainOptions>;

// Only that model has the option: records that it was given.
CLI::Option* only(const std::string& model, const Options& options, CLI::Option* option) {
  return option->each([model, options, name = option->get_name()](const std::string&) {
    options->given.push_back({name, model});
  });
}

void add_image_options(CLI::App& command, const Options& options) {
  const auto only_images = [&](CLI::Option* option) { return only("convnet", options, option); };
  command.option_defaults()->group("Options of --model convnet");
  only_images(command.add_option("--epochs", options->epochs, "number of epochs (default: 2)"))
      ->check(no_minus)
      ->check(positive);
  only_images(
      command.add_option("--dir", options->folder, "folder of MNIST's files (default: .distlab/mnist)"))
      ->check(not_empty);
  only_images(command.add_option("--samples", options->samples,
                                 "number of training images (default: 12000 digits, or all of MNIST)"))
      ->check(positive);
  only_images(command.add_option("--test-samples", options->test_samples,
                                 "number of test images (default: 2000 digits, or all of MNIST)"))
      ->check(positive);
  only_images(
      command.add_option("--momentum", options->momentum, "momentum of the optimizer, SGD (default: 0.9)"))
      ->check(no_minus);
}

void add_text_options(CLI::App& command, const Options& options) {
  TextOptions& text = options->text;
  const auto only_text = [&](CLI::Option* option) { return only("gpt", options, option); };
  command.option_defaults()->group("Options of --model gpt");
  only_text(command.add_option("--layers", text.layers, "number of blocks (default: 4)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 12));
  only_text(command.add_option("--heads", text.heads, "heads per block (default: 4)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 12));
  only_text(command.add_option("--width", text.width, "width of the residual stream (default: 128)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 17));
  only_text(command.add_option("--context", text.context, "tokens that the model sees (default: 128)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 20));
  only_text(command.add_option("--kv-heads", text.kv_heads,
                               "heads of keys and values, each for several queries (default: as --heads)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 12));
  only_text(command.add_option("--hidden", text.hidden,
                               "width inside an MLP (default: 4 times --width; with --gated 8/3 times)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 20));
  only_text(
      command.add_flag("--bias,!--no-bias", text.bias, "linear layers and LayerNorm have biases (default)"));
  only_text(
      command.add_flag("--gelu-tanh", text.gelu_tanh, "GELU by tanh, as in GPT-2, instead of the exact one"));
  only_text(command.add_flag("--rms-norm", text.rms_norm, "RMSNorm instead of LayerNorm, as in Llama"));
  only_text(command.add_flag("--gated", text.gated, "MLPs with a SiLU gate instead of GELU, as in Llama"));
  only_text(
      command.add_flag("--rotary", text.rotary, "rotary positions instead of learned ones, as in Llama"));
  only_text(command.add_option("--rotary-base", text.rotary_base,
                               "the base of the angles of rotary positions (default: 10000)"))
      ->check(no_minus);
  only_text(
      command.add_option("--norm-eps", text.norm_eps, "epsilon of LayerNorm and RMSNorm (default: 1e-5)"))
      ->check(no_minus);
  only_text(command.add_option("--dropout", text.dropout, "probability of dropout (default: 0)"))
      ->check(no_minus);
  only_text(command.add_option("--dtype", text.dtype,
                               "what is computed in: f32 (default); bf16, with f32 master weights"))
      ->check(CLI::IsMember({"f32", "bf16"}));
  only_text(command.add_flag("--tied,!--untied", text.tied,
                             "the head shares the weights of the embedding (default), or has its own"));
  only_text(command.add_option("--tokens", text.tokens,
                               "chars: characters (default); bytes; u16: 16-bit numbers in --data, "
                               "as in nanoGPT's train.bin"))
      ->check(CLI::IsMember({"chars", "bytes", "u16"}));
  only_text(command.add_option("--steps", text.steps,
                               "training steps (default: 800); 0: only --sample and --export, from a file"))
      ->check(no_minus);
  only_text(command.add_option("--decay-steps", text.decay_steps,
                               "the step from which the learning rate is lowest (default: the last one)"))
      ->check(positive);
  only_text(
      command.add_option("--eval-every", text.eval_every,
                         "steps between validations, on the last tenth of the text but at most a million "
                         "tokens, which write the checkpoint (default: 100)"))
      ->check(positive);
  only_text(
      command.add_option("--sample", text.sample, "after training, write a text that begins with this"));
  only_text(command.add_option("--sample-length", text.sample_length, "tokens to write (default: 300)"))
      ->check(positive);
  only_text(command.add_option("--temperature", text.temperature,
                               "divides the logits (default: 0.8); 0: always the most probable token"))
      ->check(no_minus);
  only_text(command.add_option(
                "--from", text.from,
                "begin with the model of this checkpoint, whose sizes and tokens the run then has; or "
                "of a safetensors file from nanoGPT, or Hugging Face's GPT-2 or Llama"))
      ->check(not_empty);
  only_text(
      command.add_option("--export", text.export_to,
                         "at the end, write the weights for PyTorch, with nanoGPT's names (a Llama: with "
                         "Hugging Face's)"))
      ->check(a_file);
  only_text(
      command.add_option("--lora", text.lora,
                         "with --from: train LoRA of this rank beside each linear layer of the blocks, and "
                         "nothing else; the checkpoint is complete, with the model of --from in it"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 12));
  only_text(command.add_option("--mesh", text.mesh,
                               "divide the model: dp=, fsdp=, tp=, pp=, cp= (cp=8:4: rows of 4), as in "
                               "fsdp=2,tp=2; the checkpoint is a folder; with --resume, any mesh and a run "
                               "without one continue from it"))
      ->check(not_empty);
  only_text(command.add_option("--micro-batches", text.micro_batches,
                               "with --mesh: cut each batch for the pipeline, or for memory (default: 1)"))
      ->check(positive)
      ->check(CLI::Range(1, 1 << 20));
  only_text(command.add_option("--schedule", text.schedule,
                               "with --mesh pp=: gpipe, 1f1b (default), interleaved, zb-h1"))
      ->check(CLI::IsMember({"gpipe", "1f1b", "interleaved", "zb-h1"}));
  only_text(command.add_option("--chunks", text.chunks,
                               "with --schedule interleaved: stages per rank (default: 1)"))
      ->check(positive)
      ->check(CLI::Range(1, 1024));
  only_text(command.add_flag("--sequence-parallel", text.sequence_parallel,
                             "with --mesh tp=: divide activations along the sequence, too"));
  only_text(
      command.add_flag("--recompute", text.recompute, "with --mesh: compute activations again in backward"));
  only_text(
      command.add_flag("--verify", text.verify,
                       "with --mesh: compare the first step with one rank in f64, and name wrong factors"));
  only_text(command.add_option("--simulate", text.simulate,
                               "with --mesh: instead of training, how long a step takes on virtual ranks of "
                               "this topology (dgx-h100-ndr, ... or a JSON file), and what a rank holds"))
      ->check(not_empty);
  only_text(command.add_option("--top-k", text.top_k,
                               "number of most probable tokens to draw among (default: all)"))
      ->check(positive);
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "train", "Train a ConvNet on digits, or a GPT on text, on several ranks", train);
  command->add_option("--model", options->model, help_of(models()))->check(CLI::IsMember(names_of(models())));
  command
      ->add_option("--nproc", options->ranks,
                   "number of ranks, or of threads for --scheme dp (default: 2; 1 for --scheme single)")
      ->check(positive)
      ->check(CLI::Range(1, 1024));
  command->add_option("--threads", options->threads, "threads per rank for layers on the CPU (default: 1)")
      ->check(positive)
      ->check(CLI::Range(1, 1024));
  command->add_option("--scheme", options->scheme, help_of(schemes()))
      ->check(CLI::IsMember(names_of(schemes())));
  command->add_option("--device", options->device, "cpu (default), or cuda: one GPU per rank, or shared ones")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_flag("--no-graph{false}", options->graph,
                    "with --device cuda: do not record steps as CUDA graphs, and read each loss at once");
  command->add_option("--backend", options->backend, "the backend (default: auto)")->check(a_backend);
  command
      ->add_option("--batch-size,--batch", options->batch_size,
                   "batch size per rank or thread (default: 64 images; 16 blocks of text)")
      ->check(positive)
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--data", options->data,
                   "images: digits, generated (default), or mnist (./distlab data mnist says how to get it); "
                   "text: a file (default: the course's handouts)")
      ->check(not_empty);
  command->add_option("--lr", options->lr, "learning rate (default: 0.02; for text 1e-3 at its peak)")
      ->check(no_minus);
  command
      ->add_option("--seed", options->seed,
                   "seed of the first weights, the order of samples, the sampled text")
      ->check(a_seed);
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "file to write after each epoch or validation (safetensors)")
      ->check(a_file);
  command->add_flag("--resume", options->resume, "continue from the checkpoint if it exists");
  command
      ->add_option_function<std::string>(
          "--stop-signal",
          [options = options](const std::string& name) { options->stop_signal = signal_named(name); },
          "a signal (USR1) that saves and ends the run, as SIGTERM does")
      ->check(a_signal);
  command
      ->add_option("--log", options->log,
                   "file that gets one line of JSON per step and evaluation; with --resume they are appended")
      ->check(a_file);
  command
      ->add_option("--peak-flops", options->peak_flops,
                   "also say the MFU, the share of this many FLOP/s per rank (989e12: bf16 on an H100); "
                   "matmul: of what matrix products reach on this machine, measured at the beginning")
      ->check(a_peak);
  command
      ->add_option("--plot", options->plot,
                   "folder for the loss and the step times as SVG; with --mesh for the "
                   "memory and the timeline of a step")
      ->check(not_empty);
  add_image_options(*command, options);
  add_text_options(*command, options);
  command->footer(train_notes);
}

}  // namespace distlab
