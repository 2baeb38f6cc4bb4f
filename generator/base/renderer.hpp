#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace jitgemm {

/// Template files by name relative to templates/ ("wgmma/copy_tile.cuh", "defaults/params.cuh"). Copies share their
/// texts.
class TemplateSet {
public:
    /// The files CMake embedded in the library.
    static const TemplateSet& embedded();
    /// The files below a folder on disk, read once. An empty name means the embedded files. Throws RenderError if the
    /// folder cannot be read.
    static TemplateSet from_directory(const std::string& directory);

    using Files = std::map<std::string, std::string, std::less<>>;

    explicit TemplateSet(Files files) : files_(std::make_shared<const Files>(std::move(files))) {}
    [[nodiscard]] const std::string* find(std::string_view name) const;
    [[nodiscard]] const Files& files() const { return *files_; }

private:
    std::shared_ptr<const Files> files_;
};

/// The input of a rendering.
struct RenderInput {
    /// Values of GEMM_* macros. A macro that is left out has its default in defaults/params.cuh.
    std::map<std::string, int, std::less<>> macros;
    /// The text of generated includes ("params.cuh") and of statements ("GEMM_STORE_SUMS").
    std::map<std::string, std::string, std::less<>> generated;
    /// The template for an include name ("copy_a.cuh" → "multistage/copy_async.cuh"), or nothing where the include is
    /// left out. Other names are templates.
    std::map<std::string, std::string, std::less<>> pieces = {};
};

/// Flattens `root` and its quoted includes into one self-contained file, and resolves every #if whose condition names a
/// GEMM_* macro. An include is put in once. A ruler names the folder of the templates below it. Files called *.inl
/// continue the file that includes them, as often as it asks. The text of a statement replaces its line, GEMM_NAME();
/// or GEMM_NAME() {. A line "// ---- name" begins another section. Knows nothing of GEMM. Throws RenderError
/// ("file:line: ...") on an unknown GEMM_ name, a missing or cyclic include, an unbalanced #if, or a condition that
/// mixes GEMM_ macros.
[[nodiscard]] std::string render(const TemplateSet& templates, std::string_view root, const RenderInput& input);

}  // namespace jitgemm
