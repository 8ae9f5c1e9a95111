//! Random programs of two functions: a public one calls a private one from blocks and from a loop.
//!
//! Many arguments are constants, and many results, block arguments and loop-carried values are
//! unused, so passes that look across calls and branches find something to do.

use std::fmt::Write;

use crate::expressions::Expressions;
use crate::random::Random;

/// The width of all numbers.
const WIDTH: u32 = 8;

/// Returns a program with the function `f` of three numbers.
pub(crate) fn callers(random: &mut Random) -> String {
    let callee = Expressions::generate(random, WIDTH, 3, 8, 20);
    let results: Vec<usize> = (0..callee.values()).filter(|v| callee.width_of(*v) == WIDTH).collect();
    let returned: Vec<usize> = (0..2).map(|_| *random.pick(&results)).collect();
    let mut text = callee.to_mlir(&returned).replace("func.func @f(", "func.func private @g(");
    let mut names: Vec<String> = ["%k0", "%k1", "%k0", "%k1", "%a", "%b", "%c"].map(String::from).to_vec();
    let mut pick = |names: &[String]| random.pick(names).clone();
    let two = |pick: &mut dyn FnMut(&[String]) -> String, names: &[String]| {
        format!("{}, {}", pick(names), pick(names))
    };
    text += "func.func @f(%a: i8, %b: i8, %c: i8) -> (i8, i8) {\n";
    text += "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n";
    let numbers: Vec<String> = ["0", "1", "3", "7", "100", "-1", "-128"].map(String::from).to_vec();
    let counts: Vec<String> = ["0", "1", "4"].map(String::from).to_vec();
    let predicates: Vec<String> = ["eq", "slt", "ult", "sge"].map(String::from).to_vec();
    for constant in ["%k0", "%k1"] {
        _ = writeln!(text, "  {constant} = arith.constant {} : i8", pick(&numbers));
    }
    _ = writeln!(text, "  %n = arith.constant {} : index", pick(&counts));
    _ = writeln!(text, "  %t = arith.cmpi {}, {} : i8", pick(&predicates), two(&mut pick, &names));
    let call = |pick: &mut dyn FnMut(&[String]) -> String, names: &[String]| {
        format!("func.call @g({}, {}, {}) : (i8, i8, i8) -> (i8, i8)", pick(names), pick(names), pick(names))
    };
    _ = writeln!(text, "  %r:2 = {}", call(&mut pick, &names));
    names.extend(["%r#0".to_owned(), "%r#1".to_owned()]);
    let (one, other) = (two(&mut pick, &names), two(&mut pick, &names));
    _ = writeln!(text, "  cf.cond_br %t, ^one({one} : i8, i8), ^two({other} : i8, i8)");
    let mut inside = [names.clone(), vec!["%p".to_owned(), "%q".to_owned()]].concat();
    let inits = (pick(&inside), pick(&inside));
    text += "^one(%p: i8, %q: i8):\n";
    _ = writeln!(
        text,
        "  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = {}, %y = {}) -> (i8, i8) {{",
        inits.0, inits.1
    );
    let carried = [inside.clone(), vec!["%x".to_owned(), "%y".to_owned(), "%x".to_owned()]].concat();
    _ = writeln!(text, "    %u = arith.addi {} : i8", two(&mut pick, &carried));
    _ = writeln!(text, "    %v:2 = {}", call(&mut pick, &carried));
    let next = [carried, vec!["%u".to_owned(), "%v#0".to_owned(), "%v#1".to_owned()]].concat();
    _ = writeln!(text, "    scf.yield {} : i8, i8\n  }}", two(&mut pick, &next));
    inside.extend(["%s#0".to_owned(), "%s#1".to_owned()]);
    _ = writeln!(text, "  cf.br ^two({} : i8, i8)", two(&mut pick, &inside));
    names.extend(["%m".to_owned(), "%w".to_owned(), "%m".to_owned()]);
    _ = writeln!(text, "^two(%m: i8, %w: i8):\n  return {} : i8, i8\n}}", two(&mut pick, &names));
    text
}
