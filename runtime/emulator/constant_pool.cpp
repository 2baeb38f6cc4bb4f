#include "runtime/emulator/instruction_decoder.hpp"

namespace jitgemm::emulator {

Value ConstantPool::word(std::uint32_t bits) {
    const auto [row, fresh] = word_rows_.try_emplace(bits, static_cast<std::uint32_t>(words_.size()));
    if (fresh) words_.push_back(bits);
    return {.bank = Bank::constant_words, .row = row->second};
}

Value ConstantPool::doubleword(std::uint64_t bits) {
    const auto [row, fresh] = doubleword_rows_.try_emplace(bits, static_cast<std::uint32_t>(doublewords_.size()));
    if (fresh) doublewords_.push_back(bits);
    return {.bank = Bank::constant_doublewords, .row = row->second};
}

Value ConstantPool::address(std::size_t module_variable, std::int64_t addend) {
    const auto row = static_cast<std::uint32_t>(doublewords_.size());
    doublewords_.push_back(0);
    relocations_.push_back({row, module_variable, addend});
    return {.bank = Bank::constant_doublewords, .row = row};
}

void ConstantPool::move_into(DecodedProgram& program) {
    for (const std::uint32_t word : words_) program.constant_words.insert(program.constant_words.end(), kLanes, word);
    for (const std::uint64_t doubleword : doublewords_) {
        program.constant_doublewords.insert(program.constant_doublewords.end(), kLanes, doubleword);
    }
    program.relocations = std::move(relocations_);
}

}  // namespace jitgemm::emulator
