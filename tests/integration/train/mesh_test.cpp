// distlab train --mesh: what is wrong with a mesh or its checkpoint is reported in one line, before any step
// where possible.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/nn/random.h"
#include "dist/nn/safetensors.h"

#include "distlab/train/text/mesh_finite.h"
#include "integration/train/run_train.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace {

using train_test::Arguments;
namespace fs = std::filesystem;
namespace nn = dist::nn;

class TrainMesh : public train_test::RunTrain {
 protected:
  static distlab::ProcessResult small(const std::string& mesh, const Arguments& more) {
    Arguments all{DISTLAB_PROGRAM, "train", "--model", "gpt", "--width", "32",
                  "--context",     "16",    "--mesh",  mesh};
    const Arguments usual{"--layers", "2", "--heads", "2", "--steps", "2", "--batch", "4"};
    for (std::size_t i = 0; i < usual.size(); i += 2)
      if (std::ranges::find(more, usual[i]) == more.end()) all.insert(all.end(), {usual[i], usual[i + 1]});
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  // What is in the folder or the file, by name.
  static std::map<std::string, std::string> saved_in(const fs::path& path) {
    std::map<std::string, std::string> all;
    if (fs::is_regular_file(path))
      all[path] = content(path);
    else
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) all[entry.path()] = content(entry.path());
    return all;
  }
  static void expect_line(const distlab::ProcessResult& said, const std::string& words, int code = 1) {
    EXPECT_EQ(said.exit_code, code) << said.output;
    EXPECT_TRUE(contains(said.output, words)) << said.output;
    EXPECT_FALSE(contains(said.output, "loss")) << "no step was needed: " << said.output;
    EXPECT_LE(std::ranges::count(said.output, '\n'), 2) << said.output;
  }
};

TEST_F(TrainMesh, MoreRanksThanCanBeStartedAreRefused) {
  expect_line(small("dp=1024,fsdp=2", {}), "--mesh dp=1024,fsdp=2 has 2048 ranks; at most 1024", 2);
  expect_line(small("dp=65536,fsdp=65536", {}), "has more ranks than", 2);
  expect_line(small("pp=3", {}), "pp=3 needs 3 layers, the model has 2", 2);
}

TEST_F(TrainMesh, AFolderThatCannotBeWrittenIsSaidBeforeTheFirstStep) {
  const auto file = in_folder("file");
  std::ofstream(file) << "not a folder";
  expect_line(small("dp=2", {"--checkpoint", file}), "--checkpoint " + file + " is not a folder");
  expect_line(small("dp=2", {"--checkpoint", file, "--resume"}), "is it a safetensors file?");
  EXPECT_EQ(content(file), "not a folder");
}

TEST_F(TrainMesh, ResumesOnAnyMeshButNotAnotherRun) {
  const auto folder = in_folder("saves");
  const auto resume = [&](const std::string& mesh, Arguments more) {
    more.insert(more.end(), {"--checkpoint", folder, "--resume"});
    return small(mesh, more);
  };
  fs::create_directories(folder + "/save-000001");  // the first save of an earlier run was killed
  const auto first = resume("dp=2", {});
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_TRUE(contains(first.output, "has no checkpoint yet")) << first.output;
  for (const auto& [option, value, words] : {std::tuple{"--heads", "4", "heads = 2, but this run has 4"},
                                             {"--layers", "1", "layers = 2, but"},
                                             {"--seed", "5", "seed = 0, but this run has 5"}})
    expect_line(resume("dp=2", {option, value}), std::string("is from a run with ") + words);
  const auto second = resume("tp=2", {"--steps", "3"});
  EXPECT_TRUE(contains(second.output, "continuing after step 2")) << second.output;
  EXPECT_TRUE(contains(second.output, "step 3 of 3: loss")) << second.output;
  EXPECT_TRUE(contains(resume("pp=2", {}).output, "step 2 is done already; to train longer: --steps 103"));
}

// A checkpoint of a version without --dtype bf16 has no such entry.
TEST_F(TrainMesh, ACheckpointThatDoesNotSayItsDtypeIsOfF32) {
  const auto folder = in_folder("saves");
  ASSERT_EQ(small("dp=2", {"--checkpoint", folder}).exit_code, 0);
  const fs::path index = fs::path(folder) / "save-000001" / "index.json";
  std::string text = content(index);
  const auto at = text.find("\"run.bf16\"");
  ASSERT_NE(at, text.npos) << text;
  std::ofstream(index) << text.replace(at, 10, "\"run.none\"");
  const auto resume = [&](Arguments more) {
    more.insert(more.end(), {"--steps", "3", "--checkpoint", folder, "--resume"});
    return small("tp=2", more);
  };
  expect_line(resume({"--dtype", "bf16"}),
              "from a run in f32, but this run is in bf16; to resume, take --dtype f32");
  const auto said = resume({});
  EXPECT_TRUE(contains(said.output, "continuing after step 2")) << said.output;
  EXPECT_TRUE(contains(said.output, "step 3 of 3: loss")) << said.output;
}

TEST_F(TrainMesh, RanksOfDifferentOptionsAreTold) {
  const auto started = [](const std::string& options) {
    const auto said = run(under_distrun(
        {"bash", "-c",
         "exec " DISTLAB_PROGRAM " train --model gpt --context 16 --width 16 --steps 1 " + options}));
    EXPECT_EQ(said.exit_code, 1) << said.output;
    return said.output;
  };
  for (const auto& [options, words] :
       {std::pair<std::string, std::string>{"--mesh dp=2 --seed $RANK",
                                            "with --seed 0, rank 1 with --seed 1"},
        {"--batch $((RANK+3))", "with --batch-size 3, rank 1 with --batch-size 4"},
        {"--mesh dp=2 $([ $RANK = 1 ] || echo --dtype bf16)", "with --dtype bf16, rank 1 with --dtype f32"},
        {"--mesh dp=2 $([ $RANK = 1 ] || echo --recompute)",
         "with --recompute true, rank 1 with --recompute false"}})
    EXPECT_TRUE(
        contains(started(options), "rank 0 was started " + words + "; give all ranks the same options"))
        << started(options);
}

// Two ranks as on two nodes, each with a folder of its own.
TEST_F(TrainMesh, ACheckpointThatOnlyOneRankSeesIsSaid) {
  const auto apart = [&](const std::string& options) {
    return run(
        under_distrun({"bash", "-c",
                       "mkdir -p " + folder_.string() + "/$RANK; cd " + folder_.string() +
                           "/$RANK; exec " DISTLAB_PROGRAM " train --checkpoint saved --resume " + options}));
  };
  const std::string small_gpt = "--model gpt --context 16 --steps 1 --width 16 --batch 4 ";
  for (const std::string& model : {small_gpt, std::string("--samples 32 --test-samples 8 --epochs 1")}) {
    ASSERT_EQ(apart(model).exit_code, 0);
    const auto again = apart(model);
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_TRUE(
        contains(again.output,
                 "saved is not the same file for all ranks: rank 0 would continue after 1, rank 1 after 0"))
        << again.output;
    fs::remove_all(folder_ / "0");
  }
  const auto mesh = apart(small_gpt + "--mesh dp=2");
  EXPECT_EQ(mesh.exit_code, 1) << mesh.output;
  EXPECT_TRUE(contains(mesh.output, "save_sharded at mesh_checkpoint.cpp:") &&
              contains(mesh.output, "every rank must pass the same arguments"))
      << mesh.output;
  EXPECT_TRUE(fs::is_empty(folder_ / "0" / "saved")) << "a save that failed leaves nothing";
}

TEST_F(TrainMesh, TheMemoryAndTheTimelineOfAStepAreDrawn) {
  const auto said = small("fsdp=2", {"--plot", in_folder("out")});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  for (const char* part : {"memory of rank 0's tensors over a step: at most ", "\nforward   embedding",
                           " h.1 ", "\nbackward  head", "\nupdate    optimizer"})
    EXPECT_TRUE(contains(said.output, part)) << part << '\n' << said.output;
  EXPECT_TRUE(content(folder_ / "out" / "memory.svg").starts_with("<svg"));
  EXPECT_TRUE(contains(said.output, "timeline of a step: ")) << said.output;
  EXPECT_TRUE(contains(said.output, " ms on 2 ranks, which compute for ")) << said.output;
  const std::string timeline = content(folder_ / "out" / "timeline.svg");
  EXPECT_TRUE(timeline.starts_with("<svg"));
  EXPECT_TRUE(contains(timeline, "A step on fsdp=2, in ms")) << timeline;
  EXPECT_TRUE(contains(timeline, ">rank 1<")) << timeline;
}

// What the mesh writes is what one rank writes with the same parameters: the same text on any mesh.
TEST_F(TrainMesh, WritesAText) {
  const Arguments sampling{"--sample", "A rank", "--sample-length", "20", "--temperature", "0"};
  const auto text_of = [](const distlab::ProcessResult& said) {
    const auto begin = said.output.rfind("A rank");
    return begin == std::string::npos ? "nothing of " + said.output : said.output.substr(begin);
  };
  const auto folder = in_folder("saves");
  Arguments trains = sampling;
  trains.insert(trains.end(), {"--checkpoint", folder});
  const auto trained = small("fsdp=2", trains);
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_GE(text_of(trained).size(), 20u) << trained.output;
  Arguments writes = trains;
  writes.insert(writes.end(), {"--steps", "0"});
  for (const char* mesh : {"tp=2", "pp=2"}) EXPECT_EQ(text_of(small(mesh, writes)), text_of(trained)) << mesh;
  expect_line(small("dp=2", {"--sample", "A rank", "--steps", "0", "--checkpoint", in_folder("none")}),
              "has no checkpoint of a mesh; train with --checkpoint");
}

TEST_F(TrainMesh, AStepIsSimulated) {
  const auto said =
      small("pp=2,tp=2", {"--micro-batches", "4", "--simulate", "dgx-h100-ndr", "--plot", in_folder("out")});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  for (const char* part : {"on tp=2, pp=2: 4 ranks of dgx-h100-ndr", "\n  computing ", "\n  bubble ",
                           "\n  exposed ", "\n  memory "})
    EXPECT_TRUE(contains(said.output, part)) << part << '\n' << said.output;
  EXPECT_TRUE(content(folder_ / "out" / "timeline.svg").starts_with("<svg"));
  const auto divided = small("cp=4:2", {"--simulate", "laptop"});
  ASSERT_EQ(divided.exit_code, 0) << divided.output;
  EXPECT_TRUE(contains(divided.output, "on cp=4:2: 4 ranks of laptop")) << divided.output;
  expect_line(small("pp=2", {"--simulate", "nowhere"}), "nowhere", 2);
  expect_line(small("pp=2", {"--simulate", "laptop", "--verify"}), "--simulate trains nothing", 2);
}

// A run in bf16 that is interrupted ends with the bits of one that is not.
TEST_F(TrainMesh, LearnsInBf16AndResumesWithTheSameBits) {
  const auto train = [&](const std::string& folder, Arguments more) {
    more.insert(more.end(), {"--dtype", "bf16", "--decay-steps", "4", "--checkpoint", in_folder(folder)});
    const auto said = small("fsdp=2", more);
    EXPECT_EQ(said.exit_code, 0) << said.output;
    return said.output;
  };
  const auto weights = [&](const std::string& folder) {
    std::string newest;
    for (const auto& entry : fs::recursive_directory_iterator(in_folder(folder)))
      if (entry.path().filename() == "rank-00001.safetensors")
        newest = std::max(newest, entry.path().string());
    return content(newest);
  };
  (void)train("whole", {"--steps", "4"});
  (void)train("half", {"--steps", "2"});
  EXPECT_TRUE(contains(train("half", {"--steps", "4", "--resume"}), "continuing after step 2"));
  EXPECT_FALSE(weights("whole").empty());
  EXPECT_TRUE(weights("half") == weights("whole"));
  expect_line(small("fsdp=2", {"--checkpoint", in_folder("half"), "--resume"}),
              "from a run in bf16, but this run is in f32; to resume, take --dtype bf16");
  expect_line(small("dp=2", {"--dtype", "bf16", "--verify"}), "--verify compares with one rank in f64", 2);
  expect_line(small("dp=2", {"--dtype", "bf16", "--simulate", "laptop"}),
              "only knows how fast machines compute in f32", 2);
}

TEST_F(TrainMesh, VerifyComparesWithOneRank) {
  const auto said = small("fsdp=2", {"--verify"});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "as on one rank in f64: loss ")) << said.output;
  const auto refused = small("fsdp=2", {"--verify", "--plot", in_folder("out")});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_TRUE(contains(refused.output, "--plot draws a training step")) << refused.output;
}

TEST_F(TrainMesh, AShortTextValidatesOnWhatThereIsOrIsRefused) {
  const auto text = in_folder("text");
  std::ofstream(text) << std::string(1000, 'a') + std::string(600, 'b');
  const auto short_one = small("dp=2", {"--batch", "16", "--data", text});
  EXPECT_EQ(short_one.exit_code, 0) << short_one.output;
  EXPECT_TRUE(contains(short_one.output, "validation loss ")) << short_one.output;
  EXPECT_FALSE(contains(short_one.output, "nan")) << short_one.output;
  const auto refused = small("dp=2", {"--micro-batches", "8", "--batch", "16", "--data", text});
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_TRUE(contains(refused.output, "2 data ranks with 8 micro-batches need 16")) << refused.output;
}

TEST_F(TrainMesh, WeightsThatAreNotFiniteAreNeverSaved) {
  for (const char* mesh : {"", "dp=2", "fsdp=2", "tp=2", "pp=2"}) {
    const auto checkpoint = in_folder(std::string("saves.") + mesh);
    const auto train = [&](const Arguments& more) {
      Arguments all{DISTLAB_PROGRAM, "train", "--model",      "gpt", "--width",      "16",
                    "--context",     "16",    "--layers",     "2",   "--heads",      "2",
                    "--batch",       "2",     "--eval-every", "1",   "--checkpoint", checkpoint};
      if (*mesh != '\0') all.insert(all.end(), {"--mesh", mesh});
      all.insert(all.end(), more.begin(), more.end());
      return run(all);
    };
    ASSERT_EQ(train({"--steps", "3"}).exit_code, 0) << mesh;
    const auto before = saved_in(checkpoint);
    const auto bad = train({"--steps", "8", "--decay-steps", "10", "--lr", "1e30", "--resume"});
    EXPECT_EQ(bad.exit_code, 1) << bad.output;
    EXPECT_TRUE(contains(bad.output, "not finite") || contains(bad.output, "is nan")) << mesh << bad.output;
    EXPECT_FALSE(contains(bad.output, "-nan")) << bad.output;
    EXPECT_TRUE(saved_in(checkpoint) == before) << mesh;
  }
}

// An infinite weight of the second block, which with pp=2 is on rank 1.
TEST_F(TrainMesh, ALossThatIsNotFiniteIsNamedWithItsRankAndLayer) {
  const auto file = in_folder("file"), bad = in_folder("bad");
  const Arguments sizes{"--layers", "2", "--heads", "2", "--width", "32", "--context", "16", "--batch", "4"};
  Arguments alone{DISTLAB_PROGRAM, "train", "--model",      "gpt", "--nproc", "1",
                  "--steps",       "1",     "--checkpoint", file};
  alone.insert(alone.end(), sizes.begin(), sizes.end());
  ASSERT_EQ(run(alone).exit_code, 0);
  auto saved = nn::load_safetensors(file);
  for (auto& [name, tensor] : saved)
    if (name == "model.transformer.h.1.mlp.c_fc.weight")
      tensor.data<float>()[0] = std::numeric_limits<float>::infinity();
  for (const auto& [mesh, rank] : {std::pair{"dp=2", '0'}, {"fsdp=2", '0'}, {"tp=2", '0'}, {"pp=2", '1'}}) {
    nn::save_safetensors(bad, saved);
    const auto said = small(mesh, {"--resume", "--checkpoint", bad, "--steps", "3"});
    EXPECT_EQ(said.exit_code, 1) << said.output;
    EXPECT_TRUE(std::regex_search(
        said.output,
        std::regex(fmt::format("the loss of step 2 is (nan|inf); the first layer whose output is not "
                               "finite is transformer\\.h\\.1\\.mlp\\.c_fc \\(Linear\\([0-9, "
                               "]+\\)\\) on rank {}; try a smaller --lr than",
                               rank))))
        << mesh << said.output;
    EXPECT_FALSE(contains(said.output, "-nan")) << said.output;
  }
}

TEST(MeshFinite, AGradientThatIsNotFiniteIsNamedOnAllRanks) {
  dist::test::run_ranks(2, [](int rank) {
    nn::manual_seed(1);
    dist::HybridGpt gpt({.vocab_size = 8, .context = 8, .layers = 2, .heads = 2, .width = 16},
                        {.shape = {.pp = 2}});
    const dist::Tensor tokens = dist::zeros({2, 8}, dist::DType::i64, dist::cpu);
    (void)gpt.step(tokens, tokens);
    EXPECT_TRUE(std::isfinite(distlab::clip_finite_on_mesh(1, 0.5, gpt, 1)));
    if (rank == 1)
      for (const auto& [name, parameter] : gpt.stages()[0]->named_parameters())
        if (name == "transformer.h.1.attn.c_proj.weight")
          parameter->grad.data<float>()[3] = -std::numeric_limits<float>::quiet_NaN();
    EXPECT_DIST_ERROR(
        distlab::clip_finite_on_mesh(7, 0.5, gpt, 1), dist::Errc::invalid_argument,
        "the gradient of transformer.h.1.attn.c_proj.weight on rank 1 at step 7 is not finite, so "
        "the step is not taken; try a smaller --lr than 0.5");
  });
}

}  // namespace
