"""A request to forget what nobody told erases nothing that is only like it: an erasure cannot be undone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.resolve import resolve_embedder

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
NEVER_TOLD = [
    ("I'm allergic to penicillin.", "Forget my blood type."),
    ("I live in Leeds.", "Please forget where I work."),
    ("My son Leo goes to Hillside Primary.", "Forget my son's birthday."),
    ("I have a mortgage with Barclays.", "Delete my bank card number."),
    ("I take metformin every morning.", "Forget what I told you about my blood pressure."),
    ("My wife works at the hospital.", "Forget my wife's age."),
    ("I drive a Volvo.", "Forget my parking permit."),
    ("I'm divorced.", "Forget about my girlfriend."),
    ("I play the piano.", "Forget about my guitar lessons."),
    ("My dog is called Rex.", "Forget about my cat."),
    ("I owe my brother 500 pounds.", "Forget my salary."),
    ("I'm vegetarian.", "Forget my weight."),
    ("I go to yoga on Mondays.", "Forget my gym membership."),
    ("My boss is called Carla.", "Forget my landlord's name."),
    ("I live on the third floor.", "Forget my phone number."),
    ("My daughter has asthma.", "Forget my daughter's school."),
    ("I work nights at a warehouse.", "Forget my sleep problems."),
    ("I'm learning Spanish.", "Forget what I said about my trip to Spain."),
    ("I have two kids.", "Forget about my miscarriage."),
    ("I smoke ten a day.", "Forget about my drinking."),
    ("我对青霉素过敏", "把我的血型忘了吧"),
    ("我住在厦门", "忘掉我的工作单位"),
    ("我儿子上三年级", "别记我儿子的生日了，删掉"),
    ("我房贷在建行办的", "把我的银行卡号删掉"),
    ("我每天早上吃二甲双胍", "把我血压的事忘了"),
    ("我老婆在医院上班", "忘了我老婆的年龄"),
    ("我开一辆沃尔沃", "把我车位的事删了"),
    ("我离婚了", "忘掉我女朋友的事"),
    ("我会弹钢琴", "忘了我学吉他的事"),
    ("我家狗叫豆豆", "忘了我家猫的事"),
    ("我欠我哥五千块", "把我工资忘了"),
    ("我吃素", "把我体重删掉"),
    ("我周一上瑜伽课", "把我健身卡的事删掉"),
    ("我领导叫王珂", "忘掉我房东的名字"),
    ("我住三楼", "把我手机号忘了"),
    ("我女儿有哮喘", "忘了我女儿的学校"),
    ("我在仓库上夜班", "忘掉我失眠的事"),
    ("我在学西班牙语", "忘了我去西班牙旅游的事"),
    ("我有两个孩子", "忘了我流产的事"),
    ("我一天抽十根烟", "忘了我喝酒的事"),
    ("我妈有糖尿病", "忘了我妈的手术"),
    ("我在银行上班", "忘了我贷款的事"),
    ("我信用卡还欠三万", "忘了我的存款"),
    ("我老家在北京", "忘掉我去北京出差的事"),
    ("我会弹钢琴", "忘了我钢琴老师的事"),
    ("我离过婚", "忘了我相亲的事"),
    ("我有高血压", "把我血压计的牌子忘了"),
    ("我妈有糖尿病", "忘了我妈吃的糖尿病药"),
    ("我在上海工作", "忘掉我在上海买房的事"),
    ("我女儿在二中读书", "把我女儿的班主任忘了"),
    ("我开出租车", "忘了我的车险"),
    ("我养了一只柯基", "把狗证的事忘了"),
    ("我对花生过敏", "把我买花生油的事忘了"),
    ("我每周三打羽毛球", "把羽毛球拍的事忘了"),
    ("我住在杭州", "忘了我在杭州的前女友"),
    ("我失眠", "忘了我吃安眠药的事"),
    ("我在考驾照", "把我驾校教练忘了"),
    ("我儿子有哮喘", "忘了我儿子的过敏"),
    ("我喜欢喝咖啡", "把咖啡机的事忘了"),
    ("我老公是警察", "忘了我老公打人的事"),
    ("我在医院当护士", "把我住院的事忘了"),
    ("我欠银行贷款", "忘了我开户的银行"),
    ("I'm from Boston.", "Forget about my business trip to Boston."),
    ("I play the piano.", "Forget about my piano teacher."),
    ("I'm divorced.", "Forget about my speed dating."),
    ("I have high blood pressure.", "Forget which blood pressure monitor I bought."),
    ("My mum has diabetes.", "Forget my mum's diabetes nurse."),
    ("I work in Shanghai.", "Forget about my flat purchase in Shanghai."),
    ("My daughter goes to Oakwood School.", "Forget my daughter's teacher."),
    ("I drive a taxi.", "Forget my car insurance."),
    ("I have a corgi.", "Forget the dog licence thing."),
    ("I'm allergic to peanuts.", "Forget that I bought peanut oil."),
    ("I play badminton every Wednesday.", "Forget about the badminton racket."),
    ("I live in Leeds.", "Forget about my ex in Leeds."),
    ("I have insomnia.", "Forget the sleeping pills."),
    ("I'm learning to drive.", "Forget my driving instructor's name."),
    ("My son has asthma.", "Forget my son's allergies."),
    ("I love coffee.", "Forget about the coffee machine."),
    ("I'm a nurse at the hospital.", "Forget about my hospital stay."),
    ("My cat is called Momo.", "Forget the cat flap."),
    ("I collect stamps.", "Forget about the stamp duty."),
]
"""What is known, and what is to be forgotten, which is something else."""


@pytest.mark.parametrize(("known", "asked"), NEVER_TOLD)
def test_what_is_only_like_it_is_not_erased(tmp_path: Path, known: str, asked: str) -> None:
    clock = [NOW]
    with LongTermMemory.open(
        tmp_path, clock=lambda: clock[0], embedder=resolve_embedder(None), timezone="UTC"
    ) as memory:
        memory.observe(user_id="ana", session_id="one", user=known)
        before = [f.id for f in memory.facts(user_id="ana")]
        clock[0] += timedelta(days=3)
        seen = memory.observe(user_id="ana", session_id="two", user=asked)
        assert before and set(before) <= {f.id for f in memory.facts(user_id="ana")}
        assert not [c for c in seen.changes if c.op == "erase"]
