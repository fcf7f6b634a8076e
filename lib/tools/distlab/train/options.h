// The options of `distlab train`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace distlab {

// An option that was given, and the only model that has it.
struct OptionOfModel {
  std::string option, model;
};

// What --model gpt adds.
struct TextOptions {
  std::int64_t layers = 4, heads = 4, width = 128, context = 128;
  std::int64_t kv_heads = 0, hidden = 0;  // 0: as nn::GptOptions says
  bool bias = true, rms_norm = false, gated = false, rotary = false, gelu_tanh = false;
  double norm_eps = 1e-5, rotary_base = 10'000;
  std::int64_t vocab_size = 0;  // of the model of --from; 0: that of the tokens
  double dropout = 0;
  std::string dtype = "f32";  // of parameters and activations; or "bf16"
  bool tied = true;
  std::string tokens = "chars";       // or "bytes", or "u16": --data has numbers
  std::int64_t steps = 800;           // 0: no training, only --sample and --export
  std::int64_t decay_steps = 0;       // the step from which the learning rate is lowest; 0: the last one
  std::int64_t eval_every = 100;      // steps between two validations, each of which writes the checkpoint
  std::optional<std::string> sample;  // a prompt to continue after training
  std::int64_t sample_length = 300;   // tokens
  double temperature = 0.8;           // 0: always the most probable token
  std::string mesh;                // "dp=2,tp=2": how the model is divided among ranks; empty: --scheme says
  std::string schedule = "1f1b";   // of the pipeline of a mesh
  std::int64_t micro_batches = 1;  // into which each data rank's batch is cut
  std::int64_t chunks = 1;         // stages per rank of an interleaved schedule
  bool sequence_parallel = false, recompute = false;
  std::string simulate;    // a topology: instead of training, one step on its virtual ranks
  bool verify = false;     // compare the first step with one rank, instead of training
  std::int64_t top_k = 0;  // the number of most probable tokens to sample among; 0: all
  // A checkpoint, or the weights of another program, whose model the run begins with; empty: random weights.
  std::filesystem::path from;
  std::filesystem::path export_to;  // gets the weights at the end, for other programs; empty: none
  std::int64_t lora = 0;            // train LoRA of this rank beside it, and nothing else; 0: the whole model
};

struct TrainOptions {
  std::string model = "convnet";  // or "gpt"
  int ranks = 0;                  // ranks or threads, depending on the scheme; 0: at most two
  int threads = 1;                // per rank, for layers on the CPU
  std::string scheme = "ddp";     // a name of train/scheme.h
  std::string device = "cpu";     // or "cuda": rank r takes GPU r modulo the number of GPUs
  std::string backend = "auto";   // for init_process_group()
  bool graph = true;              // on a GPU, record steps as graphs where the scheme can
  int epochs = 2;
  std::optional<std::int64_t> batch_size;  // per rank or thread; by default 64 images or 16 blocks
  std::string data;  // "digits" (default): generated; or "mnist"; for text a file (default: the handouts)
  std::filesystem::path folder;   // of MNIST's files; empty: where `distlab data mnist` looks
  std::int64_t samples = 0;       // per epoch, of all ranks; 0: 12,000 digits, or all of MNIST
  std::int64_t test_samples = 0;  // 0: 2,000 digits, or all of MNIST
  std::optional<double> lr;       // by default 0.02, or 1e-3 for text
  double momentum = 0.9;
  TextOptions text;
  std::uint64_t seed = 0;            // of the first weights and of the order of the samples
  std::filesystem::path checkpoint;  // written after each epoch or validation; empty: none
  bool resume = false;               // continue from the checkpoint if it exists
  int stop_signal = 0;               // besides SIGTERM, a signal that ends the run early; 0: none
  std::filesystem::path log;         // a line of JSON for each step and evaluation; empty: none
  std::filesystem::path plot;        // a folder for the SVG files; empty: none
  // FLOP/s that a rank could reach, for the MFU: a number, or "matmul": measured; empty: unknown.
  std::string peak_flops;
  std::vector<OptionOfModel> given;  // which options were given that only one model has
};

}  // namespace distlab
